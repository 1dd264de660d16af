// SPDX-License-Identifier: Apache-2.0
// Renders a Helm chart's templates, where helm cannot be had: the same template language (text/template, sprig), and of
// helm's own functions those that our chart uses. It takes no merged values: those come as JSON from chart_test.py.
//
//	render CHART < {"Values": ..., "Release": ..., "Chart": ...}
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v2"
)

func toYaml(value interface{}) (string, error) {
	text, err := yaml.Marshal(value)
	return strings.TrimSuffix(string(text), "\n"), err
}

func required(why string, value interface{}) (interface{}, error) {
	if value == nil || value == "" {
		return nil, errors.New(why)
	}
	return value, nil
}

func render(folder string, context map[string]interface{}) error {
	all := template.New("chart").Option("missingkey=error").Funcs(sprig.TxtFuncMap())
	include := func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	all.Funcs(template.FuncMap{"include": include, "toYaml": toYaml, "required": required})
	files, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	if err != nil {
		return err
	}
	if all, err = all.ParseFiles(files...); err != nil {
		return err
	}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "_") {
			continue
		}
		fmt.Printf("---\n# Source: %s\n", name)
		if err := all.ExecuteTemplate(os.Stdout, name, context); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	context := map[string]interface{}{}
	err := json.NewDecoder(os.Stdin).Decode(&context)
	if err == nil {
		err = render(os.Args[1], context)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
