# SPDX-License-Identifier: Apache-2.0
"""tools/apigen/vendor_smi.py: what it makes of each word, and what it refuses."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "apigen"))

import vendor_smi  # noqa: E402


def made(text):
    return vendor_smi.exported(vendor_smi.parse(text, vendor_smi.ROCM), vendor_smi.ROCM, ["rocm_smi.h"])


class Words(unittest.TestCase):
    def test_each_word_has_its_body(self):
        for text, body in (
                ("SAMPLE(power_uw) rsmi_status_t rsmi_a(uint32_t dv_ind, uint32_t sensor_ind, uint64_t* power);",
                 "return Answers::sampled(dv_ind, sensor_ind, &smi::Sample::power_uw, power);"),
                ("FACT(device_id) rsmi_status_t rsmi_a(uint32_t dv_ind, uint16_t* id);",
                 "return Answers::described(dv_ind, 0, &smi::Facts::device_id, id);"),
                ("DENIED rsmi_status_t rsmi_a(uint32_t dv_ind, uint64_t cap);",
                 "  static_cast<void>(cap);\n  return Answers::denied(dv_ind);"),
                ('ABSENT("of cap") rsmi_status_t rsmi_a(uint64_t cap);',
                 '  static_cast<void>(cap);\n  return Answers::absent(Vendor::kNoHandle, "rsmi_a", "of cap");'),
                ("CUSTOM rsmi_status_t rsmi_a_b(void);", "return Answers::guarded([&] { return custom::a_b(); });")):
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
            with self.assertRaisesRegex(vendor_smi.DescriptionError, why, msg=text):
                vendor_smi.parse(text, vendor_smi.ROCM)

    def test_the_version_script_has_all_and_hides_the_rest(self):
        rocm = vendor_smi.parse("DENIED rsmi_status_t rsmi_a(void);", vendor_smi.ROCM)
        self.assertEqual(vendor_smi.outputs(rocm, vendor_smi.ROCM)["exports.map"],
                         "{\n  global:\n    hip_remote_smi_version;\n    rsmi_a;\n  local: *;\n};\n")

    def test_majors_export_what_they_have(self):
        functions = vendor_smi.parse("SINCE(26) DENIED amdsmi_status_t amdsmi_new(void);\n"
                                     "UNTIL(25) DENIED amdsmi_status_t amdsmi_old(void);\n"
                                     "SINCE(25) UNTIL(26) DENIED amdsmi_status_t amdsmi_between(void);",
                                     vendor_smi.AMD)
        made = vendor_smi.outputs(functions, vendor_smi.AMD)
        for major, names in ((0, ["old"]), (24, ["old"]), (25, ["between", "old"]), (26, ["between", "new"]),
                             (27, ["new"])):
            script = made[f"exports_{major}.map"]
            self.assertTrue(script.startswith("AMDSMI_1 {"), script)
            self.assertEqual([line for line in script.split() if line.startswith("amdsmi_")],
                             [f"amdsmi_{name};" for name in names])
        with self.assertRaisesRegex(vendor_smi.DescriptionError, "in none of"):
            vendor_smi.parse("SINCE(28) DENIED amdsmi_status_t amdsmi_a(void);", vendor_smi.AMD)


if __name__ == "__main__":
    unittest.main()
