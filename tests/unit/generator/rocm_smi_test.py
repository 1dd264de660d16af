# SPDX-License-Identifier: Apache-2.0
"""tools/apigen/rocm_smi.py: what it makes of each word, and what it refuses."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "apigen"))

import rocm_smi  # noqa: E402


def made(text):
    return rocm_smi.exported(rocm_smi.parse(text))


class Words(unittest.TestCase):
    def test_each_word_has_its_body(self):
        for text, body in (
                ("SAMPLE(power_uw) rsmi_status_t rsmi_a(uint32_t dv_ind, uint32_t sensor_ind, uint64_t* power);",
                 "return sampled(dv_ind, sensor_ind, &smi::Sample::power_uw, power);"),
                ("FACT(device_id) rsmi_status_t rsmi_a(uint32_t dv_ind, uint16_t* id);",
                 "return described(dv_ind, 0, &smi::Facts::device_id, id);"),
                ("DENIED rsmi_status_t rsmi_a(uint32_t dv_ind, uint64_t cap);",
                 "  static_cast<void>(cap);\n  return denied(dv_ind);"),
                ('ABSENT("of cap") rsmi_status_t rsmi_a(uint64_t cap);',
                 '  static_cast<void>(cap);\n  return absent(kNoDevice, "rsmi_a", "of cap");'),
                ("CUSTOM rsmi_status_t rsmi_a_b(void);", "return guarded([&] { return custom::a_b(); });")):
            self.assertIn(body, made(text))

    def test_what_it_refuses(self):
        for text, why in (
                ("rsmi_status_t rsmi_a(void);", "not a function"),
                ("OTHER rsmi_status_t rsmi_a(void);", "none of"),
                ("DENIED(x) rsmi_status_t rsmi_a(void);", "lacks its brackets or has some"),
                ("SAMPLE rsmi_status_t rsmi_a(uint32_t dv_ind, int* x);", "lacks its brackets or has some"),
                ("SAMPLE(x) rsmi_status_t rsmi_a(uint32_t dv_ind);", "needs a dv_ind and a pointer"),
                ("FACT(x) rsmi_status_t rsmi_a(int* x);", "needs a dv_ind and a pointer"),
                ("TEXT(x) rsmi_status_t rsmi_a(uint32_t dv_ind, char* x);", "length of its buffer"),
                ("DENIED rsmi_status_t rsmi_a(void);\nDENIED rsmi_status_t rsmi_a(void);", "twice"),
                ("DENIED rsmi_status_t rsmi_a(uint32_t);", "is no parameter")):
            with self.assertRaisesRegex(rocm_smi.DescriptionError, why, msg=text):
                rocm_smi.parse(text)

    def test_the_version_script_has_all_and_hides_the_rest(self):
        script = rocm_smi.version_script(rocm_smi.parse("DENIED rsmi_status_t rsmi_a(void);"))
        self.assertEqual(script, "{\n  global:\n    hip_remote_smi_version;\n    rsmi_a;\n  local: *;\n};\n")


if __name__ == "__main__":
    unittest.main()
