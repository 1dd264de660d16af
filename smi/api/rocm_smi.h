// SPDX-License-Identifier: Apache-2.0
// The functions of librocm_smi64, and how each is answered. Parsed by tools/apigen/rocm_smi.py, which makes
// what is exported and the version script; also compiled, behind smi/rocm/types.h. Sources: rocm_smi.h of
// ROCm 5.2 and 6.4.
//
//   SAMPLE(field)     a number of SmiSample (smi/api/messages.h); of sensor 0, where there is a sensor_ind
//   FACT(field)       a number of SmiDescribe; likewise
//   TEXT(field)       a text of SmiDescribe
//   DENIED            what a tenant may not do: RSMI_STATUS_PERMISSION. No message could carry it
//   ABSENT(reason)    RSMI_STATUS_NOT_SUPPORTED; TF_DEBUG=1 says why
//   CUSTOM            by hand in smi/rocm, in namespace tf::rsmi, under its name without the prefix rsmi_
// In front of all of them the session is asked for, and the device's number is checked:
// RSMI_STATUS_INIT_ERROR, RSMI_STATUS_INVALID_ARGS. A null pointer for an answer asks whether there is one:
// RSMI_STATUS_INVALID_ARGS says yes.
#pragma once

#define SAMPLE(...)
#define FACT(...)
#define TEXT(...)
#define DENIED
#define ABSENT(...)
#define CUSTOM

// --- the library
CUSTOM rsmi_status_t rsmi_init(uint64_t init_flags);
CUSTOM rsmi_status_t rsmi_shut_down(void);
CUSTOM rsmi_status_t rsmi_status_string(rsmi_status_t status, const char** status_string);
CUSTOM rsmi_status_t rsmi_version_get(rsmi_version_t* version);
CUSTOM rsmi_status_t rsmi_version_str_get(rsmi_sw_component_t component, char* ver_str, uint32_t len);
CUSTOM rsmi_status_t rsmi_num_monitor_devices(uint32_t* num_devices);

// --- what a device is
CUSTOM rsmi_status_t rsmi_dev_pci_id_get(uint32_t dv_ind, uint64_t* bdfid);
FACT(device_id) rsmi_status_t rsmi_dev_id_get(uint32_t dv_ind, uint16_t* id);
FACT(vendor_id) rsmi_status_t rsmi_dev_vendor_id_get(uint32_t dv_ind, uint16_t* id);
FACT(subsystem_id) rsmi_status_t rsmi_dev_subsystem_id_get(uint32_t dv_ind, uint16_t* id);
FACT(subsystem_vendor_id) rsmi_status_t rsmi_dev_subsystem_vendor_id_get(uint32_t dv_ind, uint16_t* id);
FACT(revision_id) rsmi_status_t rsmi_dev_revision_get(uint32_t dv_ind, uint16_t* revision);
FACT(unique_id) rsmi_status_t rsmi_dev_unique_id_get(uint32_t dv_ind, uint64_t* id);
FACT(drm_render_minor) rsmi_status_t rsmi_dev_drm_render_minor_get(uint32_t dv_ind, uint32_t* minor);
FACT(xgmi_hive_id) rsmi_status_t rsmi_dev_xgmi_hive_id_get(uint32_t dv_ind, uint64_t* hive_id);
TEXT(name) rsmi_status_t rsmi_dev_name_get(uint32_t dv_ind, char* name, size_t len);
TEXT(name) rsmi_status_t rsmi_dev_market_name_get(uint32_t dv_ind, char* market_name, uint32_t len);
TEXT(name) rsmi_status_t rsmi_dev_subsystem_name_get(uint32_t dv_ind, char* name, size_t len);
TEXT(vendor) rsmi_status_t rsmi_dev_vendor_name_get(uint32_t dv_ind, char* name, size_t len);
TEXT(architecture) rsmi_status_t rsmi_dev_brand_get(uint32_t dv_ind, char* brand, uint32_t len);
TEXT(serial) rsmi_status_t rsmi_dev_serial_number_get(uint32_t dv_ind, char* serial_num, uint32_t len);
TEXT(firmware) rsmi_status_t rsmi_dev_vbios_version_get(uint32_t dv_ind, char* vbios, uint32_t len);
TEXT(memory_vendor) rsmi_status_t rsmi_dev_vram_vendor_get(uint32_t dv_ind, char* brand, uint32_t len);
ABSENT("its argument has another type in each major")
rsmi_status_t rsmi_dev_sku_get(uint32_t dv_ind, void* sku);
ABSENT("devices of other hosts have no node of KFD here")
rsmi_status_t rsmi_dev_node_id_get(uint32_t dv_ind, uint32_t* node_id);
ABSENT("devices of other hosts have no KFD here")
rsmi_status_t rsmi_dev_guid_get(uint32_t dv_ind, uint64_t* guid);
ABSENT("HIP has it: gcnArchName")
rsmi_status_t rsmi_dev_target_graphics_version_get(uint32_t dv_ind, uint64_t* gfx_version);
ABSENT("not carried") rsmi_status_t rsmi_dev_device_identifiers_get(uint32_t dv_ind, void* identifiers);
ABSENT("not carried") rsmi_status_t rsmi_dev_xgmi_physical_id_get(uint32_t dv_ind, uint16_t* id);
ABSENT("not carried")
rsmi_status_t rsmi_dev_firmware_version_get(uint32_t dv_ind, rsmi_fw_block_t block, uint64_t* fw_version);

// --- load and memory
SAMPLE(core_busy_percent) rsmi_status_t rsmi_dev_busy_percent_get(uint32_t dv_ind, uint32_t* busy_percent);
SAMPLE(memory_busy_percent)
rsmi_status_t rsmi_dev_memory_busy_percent_get(uint32_t dv_ind, uint32_t* busy_percent);
SAMPLE(media_busy_percent)
rsmi_status_t rsmi_dev_activity_avg_mm_get(uint32_t dv_ind, uint16_t* avg_activity);
CUSTOM
rsmi_status_t rsmi_dev_activity_metric_get(uint32_t dv_ind, rsmi_activity_metric_t activity_metric_type,
                                           rsmi_activity_metric_counter_t* activity_metric_counter);
ABSENT("worker's libraries count no coarse activity")
rsmi_status_t rsmi_utilization_count_get(uint32_t dv_ind, rsmi_utilization_counter_t* utilization_counters,
                                         uint32_t count, uint64_t* timestamp);
CUSTOM rsmi_status_t rsmi_dev_memory_total_get(uint32_t dv_ind, rsmi_memory_type_t mem_type, uint64_t* total);
CUSTOM rsmi_status_t rsmi_dev_memory_usage_get(uint32_t dv_ind, rsmi_memory_type_t mem_type, uint64_t* used);
ABSENT("not carried")
rsmi_status_t rsmi_dev_memory_reserved_pages_get(uint32_t dv_ind, uint32_t* num_pages,
                                                 rsmi_retired_page_record_t* records);
CUSTOM rsmi_status_t rsmi_dev_gpu_metrics_info_get(uint32_t dv_ind, rsmi_gpu_metrics_t* pgpu_metrics);
CUSTOM rsmi_status_t rsmi_dev_metrics_header_info_get(uint32_t dv_ind, rsmi_metrics_header_t* header_value);
ABSENT("the log is the driver's") rsmi_status_t rsmi_dev_metrics_log_get(uint32_t dv_ind);
ABSENT("not carried")
rsmi_status_t rsmi_dev_metrics_xcd_counter_get(uint32_t dv_ind, uint16_t* xcd_counter_value);

// --- temperature, power, clocks, fans
CUSTOM
rsmi_status_t rsmi_dev_temp_metric_get(uint32_t dv_ind, uint32_t sensor_type,
                                       rsmi_temperature_metric_t metric, int64_t* temperature);
CUSTOM
rsmi_status_t rsmi_dev_volt_metric_get(uint32_t dv_ind, rsmi_voltage_type_t sensor_type,
                                       rsmi_voltage_metric_t metric, int64_t* voltage);
SAMPLE(power_uw) rsmi_status_t rsmi_dev_power_ave_get(uint32_t dv_ind, uint32_t sensor_ind, uint64_t* power);
SAMPLE(power_uw) rsmi_status_t rsmi_dev_current_socket_power_get(uint32_t dv_ind, uint64_t* socket_power);
CUSTOM rsmi_status_t rsmi_dev_power_get(uint32_t dv_ind, uint64_t* power, RSMI_POWER_TYPE* type);
SAMPLE(power_cap_uw)
rsmi_status_t rsmi_dev_power_cap_get(uint32_t dv_ind, uint32_t sensor_ind, uint64_t* cap);
FACT(power_cap_default_uw)
rsmi_status_t rsmi_dev_power_cap_default_get(uint32_t dv_ind, uint64_t* default_cap);
CUSTOM rsmi_status_t rsmi_dev_power_cap_range_get(uint32_t dv_ind, uint32_t sensor_ind, uint64_t* max,
                                                  uint64_t* min);
DENIED rsmi_status_t rsmi_dev_power_cap_set(uint32_t dv_ind, uint32_t sensor_ind, uint64_t cap);
ABSENT("not carried")
rsmi_status_t rsmi_dev_power_profile_presets_get(uint32_t dv_ind, uint32_t sensor_ind,
                                                 rsmi_power_profile_status_t* status);
DENIED
rsmi_status_t rsmi_dev_power_profile_set(uint32_t dv_ind, uint32_t reserved,
                                         rsmi_power_profile_preset_masks_t profile);
CUSTOM
rsmi_status_t rsmi_dev_energy_count_get(uint32_t dv_ind, uint64_t* power, float* counter_resolution,
                                        uint64_t* timestamp);
CUSTOM rsmi_status_t rsmi_dev_gpu_clk_freq_get(uint32_t dv_ind, rsmi_clk_type_t clk_type,
                                               rsmi_frequencies_t* f);
DENIED rsmi_status_t rsmi_dev_gpu_clk_freq_set(uint32_t dv_ind, rsmi_clk_type_t clk_type,
                                               uint64_t freq_bitmask);
DENIED
rsmi_status_t rsmi_dev_clk_range_set(uint32_t dv_ind, uint64_t minclkvalue, uint64_t maxclkvalue,
                                     rsmi_clk_type_t clkType);
DENIED
rsmi_status_t rsmi_dev_clk_extremum_set(uint32_t dv_ind, rsmi_freq_ind_t level, uint64_t clkvalue,
                                        rsmi_clk_type_t clkType);
DENIED
rsmi_status_t rsmi_dev_od_clk_info_set(uint32_t dv_ind, rsmi_freq_ind_t level, uint64_t clkvalue,
                                       rsmi_clk_type_t clkType);
DENIED rsmi_status_t rsmi_dev_od_volt_info_set(uint32_t dv_ind, uint32_t vpoint, uint64_t clkvalue,
                                               uint64_t voltvalue);
ABSENT("not carried") rsmi_status_t rsmi_dev_od_volt_info_get(uint32_t dv_ind, rsmi_od_volt_freq_data_t* odv);
ABSENT("not carried")
rsmi_status_t rsmi_dev_od_volt_curve_regions_get(uint32_t dv_ind, uint32_t* num_regions,
                                                 rsmi_freq_volt_region_t* buffer);
ABSENT("not carried") rsmi_status_t rsmi_dev_overdrive_level_get(uint32_t dv_ind, uint32_t* od);
ABSENT("not carried") rsmi_status_t rsmi_dev_mem_overdrive_level_get(uint32_t dv_ind, uint32_t* od);
DENIED rsmi_status_t rsmi_dev_overdrive_level_set(uint32_t dv_ind, uint32_t od);
DENIED rsmi_status_t rsmi_dev_overdrive_level_set_v1(uint32_t dv_ind, uint32_t od);
SAMPLE(performance_level) rsmi_status_t rsmi_dev_perf_level_get(uint32_t dv_ind, rsmi_dev_perf_level_t* perf);
DENIED rsmi_status_t rsmi_dev_perf_level_set(uint32_t dv_ind, rsmi_dev_perf_level_t perf_lvl);
DENIED rsmi_status_t rsmi_dev_perf_level_set_v1(uint32_t dv_ind, rsmi_dev_perf_level_t perf_lvl);
DENIED rsmi_status_t rsmi_perf_determinism_mode_set(uint32_t dv_ind, uint64_t clkvalue);
SAMPLE(fan_rpm) rsmi_status_t rsmi_dev_fan_rpms_get(uint32_t dv_ind, uint32_t sensor_ind, int64_t* speed);
SAMPLE(fan_level) rsmi_status_t rsmi_dev_fan_speed_get(uint32_t dv_ind, uint32_t sensor_ind, int64_t* speed);
FACT(fan_most)
rsmi_status_t rsmi_dev_fan_speed_max_get(uint32_t dv_ind, uint32_t sensor_ind, uint64_t* max_speed);
DENIED rsmi_status_t rsmi_dev_fan_reset(uint32_t dv_ind, uint32_t sensor_ind);
DENIED rsmi_status_t rsmi_dev_fan_speed_set(uint32_t dv_ind, uint32_t sensor_ind, uint64_t speed);
DENIED rsmi_status_t rsmi_dev_gpu_reset(uint32_t dv_ind);

// --- links
CUSTOM rsmi_status_t rsmi_dev_pci_bandwidth_get(uint32_t dv_ind, rsmi_pcie_bandwidth_t* bandwidth);
DENIED rsmi_status_t rsmi_dev_pci_bandwidth_set(uint32_t dv_ind, uint64_t bw_bitmask);
ABSENT("the size of packets is not known")
rsmi_status_t rsmi_dev_pci_throughput_get(uint32_t dv_ind, uint64_t* sent, uint64_t* received,
                                          uint64_t* max_pkt_sz);
SAMPLE(pcie_replays) rsmi_status_t rsmi_dev_pci_replay_counter_get(uint32_t dv_ind, uint64_t* counter);
FACT(numa_node) rsmi_status_t rsmi_topo_get_numa_node_number(uint32_t dv_ind, uint32_t* numa_node);
FACT(numa_node) rsmi_status_t rsmi_topo_numa_affinity_get(uint32_t dv_ind, int32_t* numa_node);
CUSTOM rsmi_status_t rsmi_topo_get_link_weight(uint32_t dv_ind_src, uint32_t dv_ind_dst, uint64_t* weight);
CUSTOM
rsmi_status_t rsmi_topo_get_link_type(uint32_t dv_ind_src, uint32_t dv_ind_dst, uint64_t* hops,
                                      RSMI_IO_LINK_TYPE* type);
CUSTOM
rsmi_status_t rsmi_minmax_bandwidth_get(uint32_t dv_ind_src, uint32_t dv_ind_dst, uint64_t* min_bandwidth,
                                        uint64_t* max_bandwidth);
CUSTOM rsmi_status_t rsmi_is_P2P_accessible(uint32_t dv_ind_src, uint32_t dv_ind_dst, bool* accessible);
ABSENT("not carried") rsmi_status_t rsmi_dev_xgmi_error_status(uint32_t dv_ind, rsmi_xgmi_status_t* status);
DENIED rsmi_status_t rsmi_dev_xgmi_error_reset(uint32_t dv_ind);

// --- errors of memory
CUSTOM rsmi_status_t rsmi_dev_ecc_count_get(uint32_t dv_ind, rsmi_gpu_block_t block, rsmi_error_count_t* ec);
ABSENT("not carried") rsmi_status_t rsmi_dev_ecc_enabled_get(uint32_t dv_ind, uint64_t* enabled_blocks);
ABSENT("not carried")
rsmi_status_t rsmi_dev_ecc_status_get(uint32_t dv_ind, rsmi_gpu_block_t block, rsmi_ras_err_state_t* state);

// --- processes: sessions of the same tenant
CUSTOM rsmi_status_t rsmi_compute_process_info_get(rsmi_process_info_t* procs, uint32_t* num_items);
CUSTOM rsmi_status_t rsmi_compute_process_info_by_pid_get(uint32_t pid, rsmi_process_info_t* proc);
CUSTOM rsmi_status_t rsmi_compute_process_info_by_device_get(uint32_t pid, uint32_t dv_ind,
                                                             rsmi_process_info_t* proc);
CUSTOM rsmi_status_t rsmi_compute_process_gpus_get(uint32_t pid, uint32_t* dv_indices, uint32_t* num_devices);

// --- partitions
ABSENT("not carried")
rsmi_status_t rsmi_dev_compute_partition_get(uint32_t dv_ind, char* compute_partition, uint32_t len);
DENIED rsmi_status_t rsmi_dev_compute_partition_set(uint32_t dv_ind,
                                                    rsmi_compute_partition_type_t compute_partition);
DENIED rsmi_status_t rsmi_dev_compute_partition_reset(uint32_t dv_ind);
ABSENT("not carried")
rsmi_status_t rsmi_dev_memory_partition_get(uint32_t dv_ind, char* memory_partition, uint32_t len);
ABSENT("not carried")
rsmi_status_t rsmi_dev_memory_partition_capabilities_get(uint32_t dv_ind, char* memory_partition_caps,
                                                         uint32_t len);
DENIED rsmi_status_t rsmi_dev_memory_partition_set(uint32_t dv_ind,
                                                   rsmi_memory_partition_type_t memory_partition);
DENIED rsmi_status_t rsmi_dev_memory_partition_reset(uint32_t dv_ind);
ABSENT("not carried") rsmi_status_t rsmi_dev_partition_id_get(uint32_t dv_ind, uint32_t* partition_id);

// --- counters, events, lists of functions
ABSENT("counters are the driver's")
rsmi_status_t rsmi_dev_counter_group_supported(uint32_t dv_ind, rsmi_event_group_t group);
ABSENT("counters are the driver's")
rsmi_status_t rsmi_dev_counter_create(uint32_t dv_ind, rsmi_event_type_t type,
                                      rsmi_event_handle_t* evnt_handle);
ABSENT("counters are the driver's") rsmi_status_t rsmi_dev_counter_destroy(rsmi_event_handle_t evnt_handle);
ABSENT("counters are the driver's")
rsmi_status_t rsmi_counter_control(rsmi_event_handle_t evt_handle, rsmi_counter_command_t cmd,
                                   void* cmd_args);
ABSENT("counters are the driver's")
rsmi_status_t rsmi_counter_read(rsmi_event_handle_t evt_handle, rsmi_counter_value_t* value);
ABSENT("counters are the driver's")
rsmi_status_t rsmi_counter_available_counters_get(uint32_t dv_ind, rsmi_event_group_t grp,
                                                  uint32_t* available);
ABSENT("events are the driver's") rsmi_status_t rsmi_event_notification_init(uint32_t dv_ind);
ABSENT("events are the driver's")
rsmi_status_t rsmi_event_notification_mask_set(uint32_t dv_ind, uint64_t mask);
ABSENT("events are the driver's")
rsmi_status_t rsmi_event_notification_get(int timeout_ms, uint32_t* num_elem,
                                          rsmi_evt_notification_data_t* data);
ABSENT("events are the driver's") rsmi_status_t rsmi_event_notification_stop(uint32_t dv_ind);
ABSENT("ask the functions themselves")
rsmi_status_t rsmi_dev_supported_func_iterator_open(uint32_t dv_ind, rsmi_func_id_iter_handle_t* handle);
ABSENT("ask the functions themselves")
rsmi_status_t rsmi_dev_supported_variant_iterator_open(rsmi_func_id_iter_handle_t obj_h,
                                                       rsmi_func_id_iter_handle_t* var_iter);
ABSENT("ask the functions themselves")
rsmi_status_t rsmi_dev_supported_func_iterator_close(rsmi_func_id_iter_handle_t* handle);
ABSENT("ask the functions themselves") rsmi_status_t rsmi_func_iter_next(rsmi_func_id_iter_handle_t handle);
ABSENT("ask the functions themselves")
rsmi_status_t rsmi_func_iter_value_get(rsmi_func_id_iter_handle_t handle, void* value);
