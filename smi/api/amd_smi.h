// SPDX-License-Identifier: Apache-2.0
// The functions of libamd_smi, and how each is answered: those of the library and of GPUs.
// smi/api/amd_smi_host.h has the others. As smi/api/rocm_smi.h, which explains the words; and, in front of
// them:
//
//   SINCE(26)         from this major on
//   UNTIL(25)         up to this major
//
// A device is a handle: AMDSMI_STATUS_NOT_INIT, AMDSMI_STATUS_INVAL for null, AMDSMI_STATUS_NOT_FOUND. DENIED
// is AMDSMI_STATUS_NO_PERM. Parameters of types that are never looked at are pointers to void here. Sources:
// amdsmi.h of ROCm 6.1 (0, which is Debian's number for it), of 6.2 and 6.3 (24), of Debian's 10.1 (27), and
// its changelog for what is between.
#pragma once

#define SAMPLE(...)
#define FACT(...)
#define TEXT(...)
#define DENIED
#define ABSENT(...)
#define CUSTOM
#define SINCE(...)
#define UNTIL(...)

// --- the library
CUSTOM amdsmi_status_t amdsmi_init(uint64_t init_flags);
CUSTOM amdsmi_status_t amdsmi_shut_down(void);
CUSTOM amdsmi_status_t amdsmi_get_lib_version(amdsmi_version_t* version);
CUSTOM amdsmi_status_t amdsmi_status_code_to_string(amdsmi_status_t status, const char** status_string);
CUSTOM amdsmi_status_t amdsmi_get_esmi_err_msg(amdsmi_status_t status, const char** status_string);

// --- sockets and processors: one of each for each device, in the order of HIP
CUSTOM
amdsmi_status_t amdsmi_get_socket_handles(uint32_t* socket_count, amdsmi_socket_handle* socket_handles);
CUSTOM amdsmi_status_t amdsmi_get_socket_info(amdsmi_socket_handle socket_handle, size_t len, char* name);
CUSTOM
amdsmi_status_t amdsmi_get_processor_handles(amdsmi_socket_handle socket_handle, uint32_t* processor_count,
                                             amdsmi_processor_handle* devices);
SINCE(26) ABSENT("not carried")
amdsmi_status_t amdsmi_get_node_handle(amdsmi_processor_handle device, void* node_handle);
CUSTOM amdsmi_status_t amdsmi_get_processor_type(amdsmi_processor_handle device, uint32_t* processor_type);
CUSTOM amdsmi_status_t amdsmi_get_processor_info(amdsmi_processor_handle device, size_t len, char* name);
CUSTOM
amdsmi_status_t amdsmi_get_processor_count_from_handles(amdsmi_processor_handle* devices,
                                                        uint32_t* processor_count, uint32_t* nr_cpusockets,
                                                        uint32_t* nr_cpucores, uint32_t* nr_gpus);
CUSTOM
amdsmi_status_t amdsmi_get_processor_handles_by_type(amdsmi_socket_handle socket_handle,
                                                     uint32_t processor_type,
                                                     amdsmi_processor_handle* devices,
                                                     uint32_t* processor_count);
CUSTOM
amdsmi_status_t amdsmi_get_processor_handle_from_bdf(amdsmi_bdf_t bdf,
                                                     amdsmi_processor_handle* processor_handle);

// --- what a device is, and what is set for it
CUSTOM
amdsmi_status_t amdsmi_get_gpu_device_uuid(amdsmi_processor_handle device, uint32_t* uuid_length,
                                           char* uuid);
SINCE(27) ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_device_cuid(amdsmi_processor_handle device, uint32_t* cuid_length,
                                           char* cuid);
SINCE(25) CUSTOM
amdsmi_status_t amdsmi_get_gpu_enumeration_info(amdsmi_processor_handle device,
                                                amdsmi_enumeration_info_t* info);
SINCE(25) ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_virtualization_mode(amdsmi_processor_handle device, void* mode);
FACT(device_id) amdsmi_status_t amdsmi_get_gpu_id(amdsmi_processor_handle device, uint16_t* id);
FACT(revision_id)
amdsmi_status_t amdsmi_get_gpu_revision(amdsmi_processor_handle device, uint16_t* revision);
TEXT(vendor)
amdsmi_status_t amdsmi_get_gpu_vendor_name(amdsmi_processor_handle device, char* name, size_t len);
TEXT(memory_vendor)
amdsmi_status_t amdsmi_get_gpu_vram_vendor(amdsmi_processor_handle device, char* brand, uint32_t len);
FACT(subsystem_id)
amdsmi_status_t amdsmi_get_gpu_subsystem_id(amdsmi_processor_handle device, uint16_t* id);
TEXT(name)
amdsmi_status_t amdsmi_get_gpu_subsystem_name(amdsmi_processor_handle device, char* name, size_t len);
ABSENT("not carried") amdsmi_status_t amdsmi_get_gpu_cache_info(amdsmi_processor_handle device, void* info);
DENIED amdsmi_status_t amdsmi_reset_gpu(amdsmi_processor_handle device);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_process_isolation(amdsmi_processor_handle device, uint32_t* pisolate);
DENIED amdsmi_status_t amdsmi_set_gpu_process_isolation(amdsmi_processor_handle device, uint32_t pisolate);
DENIED amdsmi_status_t amdsmi_clean_gpu_local_data(amdsmi_processor_handle device);
CUSTOM
amdsmi_status_t amdsmi_get_gpu_driver_info(amdsmi_processor_handle device, amdsmi_driver_info_t* info);
CUSTOM amdsmi_status_t amdsmi_get_gpu_asic_info(amdsmi_processor_handle device, amdsmi_asic_info_t* info);
CUSTOM amdsmi_status_t amdsmi_get_gpu_kfd_info(amdsmi_processor_handle device, amdsmi_kfd_info_t* info);
CUSTOM amdsmi_status_t amdsmi_get_gpu_vram_info(amdsmi_processor_handle device, amdsmi_vram_info_t* info);
CUSTOM amdsmi_status_t amdsmi_get_gpu_board_info(amdsmi_processor_handle device, amdsmi_board_info_t* info);
SINCE(25) ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_xcd_counter(amdsmi_processor_handle device, uint16_t* xcd_count);
SINCE(26) ABSENT("not carried") amdsmi_status_t amdsmi_get_npm_info(void* node_handle, void* info);
SINCE(27) ABSENT("not carried") amdsmi_status_t amdsmi_get_tray_info(void* node_handle, void* info);
CUSTOM amdsmi_status_t amdsmi_get_fw_info(amdsmi_processor_handle device, void* info);
CUSTOM amdsmi_status_t amdsmi_get_gpu_vbios_info(amdsmi_processor_handle device, amdsmi_vbios_info_t* info);
SINCE(26) ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_ptl_state(amdsmi_processor_handle device, bool* enabled);
SINCE(26) DENIED amdsmi_status_t amdsmi_set_gpu_ptl_state(amdsmi_processor_handle device, bool enable);
SINCE(26) ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_ptl_formats(amdsmi_processor_handle device, void* data_format1,
                                           void* data_format2);
SINCE(26) DENIED
amdsmi_status_t amdsmi_set_gpu_ptl_formats(amdsmi_processor_handle device, uint32_t data_format1,
                                           uint32_t data_format2);
SINCE(26) ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_uma_carveout_info(amdsmi_processor_handle device, void* info);
SINCE(26) DENIED
amdsmi_status_t amdsmi_set_gpu_uma_carveout(amdsmi_processor_handle device, uint32_t option_index);
SINCE(26) ABSENT("not carried") amdsmi_status_t amdsmi_get_ttm_info(void* info);
SINCE(26) DENIED amdsmi_status_t amdsmi_set_ttm_pages_limit(uint64_t pages);
SINCE(26) DENIED amdsmi_status_t amdsmi_reset_ttm_pages_limit(void);
ABSENT("nothing is handed out that could be freed") amdsmi_status_t amdsmi_free_name_value_pairs(void* p);
SINCE(26) UNTIL(26) DENIED amdsmi_status_t amdsmi_gpu_driver_reload(void);
UNTIL(24) ABSENT("not carried")
amdsmi_status_t amdsmi_get_dpm_policy(amdsmi_processor_handle device, void* policy);
UNTIL(24) DENIED amdsmi_status_t amdsmi_set_dpm_policy(amdsmi_processor_handle device, uint32_t policy_id);
UNTIL(0) DENIED
amdsmi_status_t amdsmi_set_gpu_clear_sram_data(amdsmi_processor_handle device, uint32_t sclean);

// --- load and memory
CUSTOM
amdsmi_status_t amdsmi_get_gpu_memory_total(amdsmi_processor_handle device, uint32_t mem_type,
                                            uint64_t* total);
CUSTOM
amdsmi_status_t amdsmi_get_gpu_memory_usage(amdsmi_processor_handle device, uint32_t mem_type,
                                            uint64_t* used);
SINCE(25) SAMPLE(core_busy_percent)
amdsmi_status_t amdsmi_get_gpu_busy_percent(amdsmi_processor_handle device, uint32_t* gpu_busy_percent);
SINCE(27) SAMPLE(media_busy_percent)
amdsmi_status_t amdsmi_get_vcn_busy_percent(amdsmi_processor_handle device, uint32_t* vcn_busy_percent);
ABSENT("worker's libraries count no coarse activity")
amdsmi_status_t amdsmi_get_utilization_count(amdsmi_processor_handle device, void* utilization_counters,
                                             uint32_t count, uint64_t* timestamp);
CUSTOM
amdsmi_status_t amdsmi_get_gpu_metrics_header_info(amdsmi_processor_handle device,
                                                   amd_metrics_table_header_t* header_value);
CUSTOM
amdsmi_status_t amdsmi_get_gpu_metrics_info(amdsmi_processor_handle device,
                                            amdsmi_gpu_metrics_t* pgpu_metrics);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_pm_metrics_info(amdsmi_processor_handle device, void** pm_metrics,
                                               uint32_t* num_of_metrics);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_reg_table_info(amdsmi_processor_handle device, uint32_t reg_type,
                                              void** reg_metrics, uint32_t* num_of_metrics);
CUSTOM amdsmi_status_t amdsmi_get_gpu_activity(amdsmi_processor_handle device, amdsmi_engine_usage_t* info);
CUSTOM amdsmi_status_t amdsmi_get_gpu_vram_usage(amdsmi_processor_handle device, amdsmi_vram_usage_t* info);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_violation_status(amdsmi_processor_handle device, void* info);

// --- temperature, power, clocks, fans
CUSTOM
amdsmi_status_t amdsmi_get_energy_count(amdsmi_processor_handle device, uint64_t* energy_accumulator,
                                        float* counter_resolution, uint64_t* timestamp);
DENIED
amdsmi_status_t amdsmi_set_power_cap(amdsmi_processor_handle device, uint32_t sensor_ind, uint64_t cap);
DENIED
amdsmi_status_t amdsmi_set_gpu_power_profile(amdsmi_processor_handle device, uint32_t reserved,
                                             uint64_t profile);
SINCE(26) CUSTOM
amdsmi_status_t amdsmi_get_supported_power_cap(amdsmi_processor_handle device, uint32_t* sensor_count,
                                               uint32_t* sensor_inds, uint32_t* sensor_types);
SAMPLE(fan_rpm)
amdsmi_status_t amdsmi_get_gpu_fan_rpms(amdsmi_processor_handle device, uint32_t sensor_ind,
                                        int64_t* speed);
SAMPLE(fan_level)
amdsmi_status_t amdsmi_get_gpu_fan_speed(amdsmi_processor_handle device, uint32_t sensor_ind,
                                         int64_t* speed);
FACT(fan_most)
amdsmi_status_t amdsmi_get_gpu_fan_speed_max(amdsmi_processor_handle device, uint32_t sensor_ind,
                                             uint64_t* max_speed);
CUSTOM
amdsmi_status_t amdsmi_get_gpu_volt_metric(amdsmi_processor_handle device, uint32_t sensor_type,
                                           uint32_t metric, int64_t* voltage);
DENIED amdsmi_status_t amdsmi_reset_gpu_fan(amdsmi_processor_handle device, uint32_t sensor_ind);
DENIED
amdsmi_status_t amdsmi_set_gpu_fan_speed(amdsmi_processor_handle device, uint32_t sensor_ind,
                                         uint64_t speed);
SAMPLE(performance_level)
amdsmi_status_t amdsmi_get_gpu_perf_level(amdsmi_processor_handle device, uint32_t* perf);
DENIED
amdsmi_status_t amdsmi_set_gpu_perf_determinism_mode(amdsmi_processor_handle device, uint64_t clkvalue);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_overdrive_level(amdsmi_processor_handle device, uint32_t* od);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_mem_overdrive_level(amdsmi_processor_handle device, uint32_t* od);
CUSTOM
amdsmi_status_t amdsmi_get_clk_freq(amdsmi_processor_handle device, uint32_t clk_type,
                                    amdsmi_frequencies_t* f);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_od_volt_info(amdsmi_processor_handle device, void* odv);
DENIED
amdsmi_status_t amdsmi_set_gpu_clk_limit(amdsmi_processor_handle device, uint32_t clk_type,
                                         uint32_t limit_type, uint64_t clk_value);
DENIED
amdsmi_status_t amdsmi_set_gpu_od_clk_info(amdsmi_processor_handle device, uint32_t level,
                                           uint64_t clkvalue, uint32_t clkType);
DENIED
amdsmi_status_t amdsmi_set_gpu_od_volt_info(amdsmi_processor_handle device, uint32_t vpoint,
                                            uint64_t clkvalue, uint64_t voltvalue);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_od_volt_curve_regions(amdsmi_processor_handle device, uint32_t* num_regions,
                                                     void* buffer);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_power_profile_presets(amdsmi_processor_handle device, uint32_t sensor_ind,
                                                     void* status);
DENIED amdsmi_status_t amdsmi_set_gpu_perf_level(amdsmi_processor_handle device, uint32_t perf_lvl);
DENIED amdsmi_status_t amdsmi_set_gpu_overdrive_level(amdsmi_processor_handle device, uint32_t od);
DENIED
amdsmi_status_t amdsmi_set_clk_freq(amdsmi_processor_handle device, uint32_t clk_type,
                                    uint64_t freq_bitmask);
ABSENT("not carried") amdsmi_status_t amdsmi_get_soc_pstate(amdsmi_processor_handle device, void* policy);
DENIED amdsmi_status_t amdsmi_set_soc_pstate(amdsmi_processor_handle device, uint32_t policy_id);
CUSTOM
amdsmi_status_t amdsmi_get_power_cap_info(amdsmi_processor_handle device, uint32_t sensor_ind,
                                          amdsmi_power_cap_info_t* info);
CUSTOM
amdsmi_status_t amdsmi_get_temp_metric(amdsmi_processor_handle device, uint32_t sensor_type,
                                       uint32_t metric, int64_t* temperature);
CUSTOM amdsmi_status_t amdsmi_get_power_info(amdsmi_processor_handle device, amdsmi_power_info_t* info);
ABSENT("not carried")
amdsmi_status_t amdsmi_is_gpu_power_management_enabled(amdsmi_processor_handle device, bool* enabled);
CUSTOM
amdsmi_status_t amdsmi_get_clock_info(amdsmi_processor_handle device, uint32_t clk_type,
                                      amdsmi_clk_info_t* info);
UNTIL(26) DENIED
amdsmi_status_t amdsmi_set_gpu_clk_range(amdsmi_processor_handle device, uint64_t minclkvalue,
                                         uint64_t maxclkvalue, uint32_t clkType);
SINCE(25) UNTIL(25) CUSTOM
amdsmi_status_t amdsmi_get_power_info_v2(amdsmi_processor_handle device, uint32_t sensor_ind,
                                         amdsmi_power_info_t* info);

// --- links
CUSTOM amdsmi_status_t amdsmi_get_gpu_device_bdf(amdsmi_processor_handle device, amdsmi_bdf_t* bdf);
CUSTOM
amdsmi_status_t amdsmi_get_gpu_pci_bandwidth(amdsmi_processor_handle device,
                                             amdsmi_pcie_bandwidth_t* bandwidth);
CUSTOM amdsmi_status_t amdsmi_get_gpu_bdf_id(amdsmi_processor_handle device, uint64_t* bdfid);
FACT(numa_node)
amdsmi_status_t amdsmi_get_gpu_topo_numa_affinity(amdsmi_processor_handle device, int32_t* numa_node);
ABSENT("the size of packets is not known")
amdsmi_status_t amdsmi_get_gpu_pci_throughput(amdsmi_processor_handle device, uint64_t* sent,
                                              uint64_t* received, uint64_t* max_pkt_sz);
SAMPLE(pcie_replays)
amdsmi_status_t amdsmi_get_gpu_pci_replay_counter(amdsmi_processor_handle device, uint64_t* counter);
DENIED amdsmi_status_t amdsmi_set_gpu_pci_bandwidth(amdsmi_processor_handle device, uint64_t bw_bitmask);
ABSENT("not carried") amdsmi_status_t amdsmi_get_xgmi_plpd(amdsmi_processor_handle device, void* xgmi_plpd);
DENIED amdsmi_status_t amdsmi_set_xgmi_plpd(amdsmi_processor_handle device, uint32_t policy_id);
ABSENT("not carried")
amdsmi_status_t amdsmi_gpu_xgmi_error_status(amdsmi_processor_handle device, void* status);
DENIED amdsmi_status_t amdsmi_reset_gpu_xgmi_error(amdsmi_processor_handle device);
CUSTOM amdsmi_status_t amdsmi_get_xgmi_info(amdsmi_processor_handle device, amdsmi_xgmi_info_t* info);
SINCE(25) ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_xgmi_link_status(amdsmi_processor_handle device, void* link_status);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_link_metrics(amdsmi_processor_handle device, void* link_metrics);
FACT(numa_node)
amdsmi_status_t amdsmi_topo_get_numa_node_number(amdsmi_processor_handle device, uint32_t* numa_node);
CUSTOM
amdsmi_status_t amdsmi_topo_get_link_weight(amdsmi_processor_handle from, amdsmi_processor_handle to,
                                            uint64_t* weight);
CUSTOM
amdsmi_status_t amdsmi_get_minmax_bandwidth_between_processors(amdsmi_processor_handle from,
                                                               amdsmi_processor_handle to,
                                                               uint64_t* min_bandwidth,
                                                               uint64_t* max_bandwidth);
CUSTOM
amdsmi_status_t amdsmi_topo_get_link_type(amdsmi_processor_handle from, amdsmi_processor_handle to,
                                          uint64_t* hops, uint32_t* type);
CUSTOM
amdsmi_status_t amdsmi_get_link_topology_nearest(amdsmi_processor_handle device, uint32_t link_type,
                                                 amdsmi_topology_nearest_t* topology_nearest_info);
CUSTOM
amdsmi_status_t amdsmi_is_P2P_accessible(amdsmi_processor_handle from, amdsmi_processor_handle to,
                                         bool* accessible);
CUSTOM
amdsmi_status_t amdsmi_topo_get_p2p_status(amdsmi_processor_handle from, amdsmi_processor_handle to,
                                           uint32_t* type, amdsmi_p2p_capability_t* cap);
CUSTOM amdsmi_status_t amdsmi_get_pcie_info(amdsmi_processor_handle device, amdsmi_pcie_info_t* info);

// --- errors of memory
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_bad_page_info(amdsmi_processor_handle device, uint32_t* num_pages,
                                             void* info);
SINCE(26) ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_bad_page_threshold(amdsmi_processor_handle device, uint32_t* threshold);
SINCE(25) DENIED amdsmi_status_t amdsmi_gpu_validate_ras_eeprom(amdsmi_processor_handle device);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_ras_block_features_enabled(amdsmi_processor_handle device, uint64_t block,
                                                          void* state);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_memory_reserved_pages(amdsmi_processor_handle device, uint32_t* num_pages,
                                                     void* records);
CUSTOM
amdsmi_status_t amdsmi_get_gpu_ecc_count(amdsmi_processor_handle device, uint64_t block,
                                         amdsmi_error_count_t* ec);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_ecc_enabled(amdsmi_processor_handle device, uint64_t* enabled_blocks);
CUSTOM
amdsmi_status_t amdsmi_get_gpu_total_ecc_count(amdsmi_processor_handle device, amdsmi_error_count_t* ec);
SINCE(25) ABSENT("not carried")
amdsmi_status_t amdsmi_get_afids_from_cper(char* cper_buffer, uint32_t buf_size, uint64_t* afids,
                                           uint32_t* num_afids);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_ras_feature_info(amdsmi_processor_handle device, void* ras_feature);
SINCE(25) ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_cper_entries(amdsmi_processor_handle device, uint32_t severity_mask,
                                            char* cper_data, uint64_t* buf_size, void** cper_hdrs,
                                            uint64_t* entry_count, uint64_t* cursor);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_ecc_status(amdsmi_processor_handle device, uint64_t block, void* state);

// --- processes: sessions of the same tenant
CUSTOM
amdsmi_status_t amdsmi_get_gpu_compute_process_info(amdsmi_process_info_t* procs, uint32_t* num_items);
CUSTOM
amdsmi_status_t amdsmi_get_gpu_compute_process_info_by_pid(uint32_t pid, amdsmi_process_info_t* proc);
CUSTOM
amdsmi_status_t amdsmi_get_gpu_compute_process_gpus(uint32_t pid, uint32_t* dv_indices,
                                                    uint32_t* num_devices);
CUSTOM
amdsmi_status_t amdsmi_get_gpu_process_list(amdsmi_processor_handle device, uint32_t* max_processes,
                                            amdsmi_proc_info_t* list);
SINCE(26) CUSTOM
amdsmi_status_t amdsmi_get_gpu_process_list_by_pid(amdsmi_processor_handle* devices,
                                                   uint32_t num_processors,
                                                   amdsmi_proc_info_by_pid_t* procs,
                                                   uint32_t* max_processes);
UNTIL(24) ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_process_info(amdsmi_processor_handle device, uint32_t process, void* info);

// --- counters, events
ABSENT("counters are the driver's")
amdsmi_status_t amdsmi_gpu_counter_group_supported(amdsmi_processor_handle device, uint32_t group);
ABSENT("counters are the driver's")
amdsmi_status_t amdsmi_gpu_create_counter(amdsmi_processor_handle device, uint32_t type, void* evnt_handle);
ABSENT("counters are the driver's") amdsmi_status_t amdsmi_gpu_destroy_counter(uintptr_t evnt_handle);
ABSENT("counters are the driver's")
amdsmi_status_t amdsmi_gpu_control_counter(uintptr_t evt_handle, uint32_t cmd, void* cmd_args);
ABSENT("counters are the driver's")
amdsmi_status_t amdsmi_gpu_read_counter(uintptr_t evt_handle, void* value);
ABSENT("counters are the driver's")
amdsmi_status_t amdsmi_get_gpu_available_counters(amdsmi_processor_handle device, uint32_t grp,
                                                  uint32_t* available);
ABSENT("events are the driver's")
amdsmi_status_t amdsmi_init_gpu_event_notification(amdsmi_processor_handle device);
ABSENT("events are the driver's")
amdsmi_status_t amdsmi_set_gpu_event_notification_mask(amdsmi_processor_handle device, uint64_t mask);
ABSENT("events are the driver's")
amdsmi_status_t amdsmi_get_gpu_event_notification(int timeout_ms, uint32_t* num_elem, void* data);
ABSENT("events are the driver's")
amdsmi_status_t amdsmi_stop_gpu_event_notification(amdsmi_processor_handle device);

// --- partitions
SINCE(26) ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_partition_metrics_info(amdsmi_processor_handle device,
                                                      amdsmi_gpu_metrics_t* pgpu_metrics);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_compute_partition(amdsmi_processor_handle device, char* compute_partition,
                                                 uint32_t len);
DENIED
amdsmi_status_t amdsmi_set_gpu_compute_partition(amdsmi_processor_handle device,
                                                 uint32_t compute_partition);
SINCE(26) ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_compute_partition_mem_alloc_mode(amdsmi_processor_handle device, void* mode);
SINCE(27) ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_accelerator_partition_mem_alloc_mode(amdsmi_processor_handle device,
                                                                    void* mode);
SINCE(26) DENIED
amdsmi_status_t amdsmi_set_gpu_compute_partition_mem_alloc_mode(amdsmi_processor_handle device,
                                                                uint32_t mode);
SINCE(27) DENIED
amdsmi_status_t amdsmi_set_gpu_accelerator_partition_mem_alloc_mode(amdsmi_processor_handle device,
                                                                    uint32_t mode);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_memory_partition(amdsmi_processor_handle device, char* memory_partition,
                                                uint32_t len);
DENIED
amdsmi_status_t amdsmi_set_gpu_memory_partition(amdsmi_processor_handle device, uint32_t memory_partition);
SINCE(25) ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_memory_partition_config(amdsmi_processor_handle device, void* config);
SINCE(25) DENIED
amdsmi_status_t amdsmi_set_gpu_memory_partition_mode(amdsmi_processor_handle device, uint32_t mode);
SINCE(25) ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_accelerator_partition_profile_config(amdsmi_processor_handle device,
                                                                    void* profile_config);
ABSENT("not carried")
amdsmi_status_t amdsmi_get_gpu_accelerator_partition_profile(amdsmi_processor_handle device, void* profile,
                                                             uint32_t* partition_id);
SINCE(25) DENIED
amdsmi_status_t amdsmi_set_gpu_accelerator_partition_profile(amdsmi_processor_handle device,
                                                             uint32_t profile_index);
UNTIL(24) DENIED amdsmi_status_t amdsmi_reset_gpu_compute_partition(amdsmi_processor_handle device);
UNTIL(24) DENIED amdsmi_status_t amdsmi_reset_gpu_memory_partition(amdsmi_processor_handle device);
