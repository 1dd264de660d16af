// SPDX-License-Identifier: Apache-2.0
// The functions of libamd_smi for a host's processors, network cards and fabrics, which are no devices of a
// session. Follows smi/api/amd_smi.h, which explains the words.
#pragma once

// --- processors
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_affinity_with_scope(amdsmi_processor_handle device, uint32_t cpu_set_size,
                                                   uint64_t* cpu_set, uint32_t scope);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_socket_power(amdsmi_processor_handle device, uint32_t* ppower);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_socket_power_cap(amdsmi_processor_handle device, uint32_t* pcap);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_socket_power_cap_max(amdsmi_processor_handle device, uint32_t* pmax);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_pwr_svi_telemetry_all_rails(amdsmi_processor_handle device, uint32_t* power);
DENIED amdsmi_status_t amdsmi_set_cpu_socket_power_cap(amdsmi_processor_handle device, uint32_t pcap);
DENIED
amdsmi_status_t amdsmi_set_cpu_pwr_efficiency_mode(amdsmi_processor_handle device,
                                                   uint8_t power_efficiency_mode, uint32_t* utilization,
                                                   uint32_t* ppt_limit);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_pwr_efficiency_mode(amdsmi_processor_handle device,
                                                   uint32_t* power_efficiency_mode, uint32_t* utilization,
                                                   uint32_t* ppt_limit);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_core_ccd_power(amdsmi_processor_handle device, uint32_t* power);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_handles(uint32_t* cpu_count, amdsmi_processor_handle* devices);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpucore_handles(uint32_t* cores_count, amdsmi_processor_handle* devices);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_core_energy(amdsmi_processor_handle device, uint64_t* penergy);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_socket_energy(amdsmi_processor_handle device, uint64_t* penergy);
ABSENT("no device of a session") amdsmi_status_t amdsmi_get_threads_per_core(uint32_t* threads_per_core);
SINCE(25) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_hsmp_driver_version(amdsmi_processor_handle device,
                                                   void* amdsmi_hsmp_driver_ver);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_smu_fw_version(amdsmi_processor_handle device, void* amdsmi_smu_fw);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_hsmp_proto_ver(amdsmi_processor_handle device, uint32_t* proto_ver);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_prochot_status(amdsmi_processor_handle device, uint32_t* prochot);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_fclk_mclk(amdsmi_processor_handle device, uint32_t* fclk, uint32_t* mclk);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_cclk_limit(amdsmi_processor_handle device, uint32_t* cclk);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_socket_current_active_freq_limit(amdsmi_processor_handle device,
                                                                uint16_t* freq, char** src_type);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_socket_freq_range(amdsmi_processor_handle device, uint16_t* fmax,
                                                 uint16_t* fmin);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_core_current_freq_limit(amdsmi_processor_handle device, uint32_t* freq);
SINCE(26) DENIED
amdsmi_status_t amdsmi_set_cpu_rail_isofreq_policy(amdsmi_processor_handle device,
                                                   bool* rail_isofreq_policy);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_rail_isofreq_policy(amdsmi_processor_handle device,
                                                   uint8_t* rail_isofreq_policy);
SINCE(26) DENIED amdsmi_status_t amdsmi_set_cpu_dfc_ctrl(amdsmi_processor_handle device, uint8_t* dfc_ctrl);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_dfc_ctrl(amdsmi_processor_handle device, uint8_t* dfc_ctrl);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_core_boostlimit(amdsmi_processor_handle device, uint32_t* pboostlimit);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_socket_c0_residency(amdsmi_processor_handle device, uint32_t* pc0_residency);
DENIED amdsmi_status_t amdsmi_set_cpu_core_boostlimit(amdsmi_processor_handle device, uint32_t boostlimit);
DENIED
amdsmi_status_t amdsmi_set_cpu_socket_boostlimit(amdsmi_processor_handle device, uint32_t boostlimit);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_core_floor_freq_limit(amdsmi_processor_handle device, uint32_t* floor_freq);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_floor_freq_limit(amdsmi_processor_handle device, uint32_t* floor_freq);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_core_eff_floor_freq_limit(amdsmi_processor_handle device,
                                                         uint32_t* eff_floor_freq);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_eff_floor_freq_limit(amdsmi_processor_handle device,
                                                    uint32_t* eff_floor_freq);
SINCE(26) DENIED
amdsmi_status_t amdsmi_set_cpu_core_floor_freq_limit(amdsmi_processor_handle device, uint32_t floor_freq);
SINCE(26) DENIED
amdsmi_status_t amdsmi_set_cpu_floor_freq_limit(amdsmi_processor_handle device, uint32_t floor_freq);
SINCE(26) DENIED
amdsmi_status_t amdsmi_set_cpu_msr_floor_freq_limit(amdsmi_processor_handle device,
                                                    uint32_t msr_floor_freq);
SINCE(26) DENIED
amdsmi_status_t amdsmi_set_cpu_core_msr_floor_freq_limit(amdsmi_processor_handle device,
                                                         uint32_t msr_floor_freq);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_freq_range(uint32_t* fmax, uint32_t* fmin);
SINCE(26) DENIED
amdsmi_status_t amdsmi_set_cpu_sdps_limit(amdsmi_processor_handle device, uint32_t sdps_limit);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_sdps_limit(amdsmi_processor_handle device, uint32_t* sdps_limit);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_ddr_bw(amdsmi_processor_handle device, void* ddr_bw);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_socket_temperature(amdsmi_processor_handle device, uint32_t* ptmon);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_tdelta(amdsmi_processor_handle device, uint8_t* tdelta);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_svi3_vr_controller_temp(amdsmi_processor_handle device,
                                                       uint32_t* rail_selection, uint32_t* rail_index,
                                                       uint32_t* temp);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_dimm_temp_range_and_refresh_rate(amdsmi_processor_handle device,
                                                                uint8_t dimm_addr, void* rate);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_dimm_power_consumption(amdsmi_processor_handle device, uint8_t dimm_addr,
                                                      void* dimm_pow);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_dimm_thermal_sensor(amdsmi_processor_handle device, uint8_t dimm_addr,
                                                   void* dimm_temp);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_dimm_sb_reg(amdsmi_processor_handle device, uint32_t dimm_addr, uint32_t lid,
                                           uint32_t reg_offset, uint32_t reg_space, uint32_t* data);
SINCE(26) DENIED
amdsmi_status_t amdsmi_set_cpu_dimm_sb_reg(amdsmi_processor_handle device, uint32_t dimm_addr, uint32_t lid,
                                           uint32_t reg_offset, uint32_t reg_space, uint32_t write_data);
DENIED amdsmi_status_t amdsmi_set_cpu_xgmi_width(amdsmi_processor_handle device, uint8_t min, uint8_t max);
DENIED
amdsmi_status_t amdsmi_set_cpu_gmi3_link_width_range(amdsmi_processor_handle device, uint8_t min_link_width,
                                                     uint8_t max_link_width);
DENIED amdsmi_status_t amdsmi_cpu_apb_enable(amdsmi_processor_handle device);
DENIED amdsmi_status_t amdsmi_cpu_apb_disable(amdsmi_processor_handle device, uint8_t pstate);
DENIED
amdsmi_status_t amdsmi_set_cpu_socket_lclk_dpm_level(amdsmi_processor_handle device, uint8_t nbio_id,
                                                     uint8_t min, uint8_t max);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_socket_lclk_dpm_level(amdsmi_processor_handle device, uint8_t nbio_id,
                                                     void* nbio);
DENIED
amdsmi_status_t amdsmi_set_cpu_pcie_link_rate(amdsmi_processor_handle device, uint8_t rate_ctrl,
                                              uint8_t* prev_mode);
DENIED
amdsmi_status_t amdsmi_set_cpu_df_pstate_range(amdsmi_processor_handle device, uint8_t min_pstate,
                                               uint8_t max_pstate);
SINCE(26) DENIED
amdsmi_status_t amdsmi_set_cpu_xgmi_pstate_range(amdsmi_processor_handle device, uint8_t min_pstate,
                                                 uint8_t max_pstate);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_xgmi_pstate_range(amdsmi_processor_handle device, uint8_t* min_pstate,
                                                 uint8_t* max_pstate);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_pc6_enable(amdsmi_processor_handle device, uint8_t* enabled);
SINCE(26) DENIED amdsmi_status_t amdsmi_set_cpu_pc6_enable(amdsmi_processor_handle device, uint8_t enable);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_cc6_enable(amdsmi_processor_handle device, uint8_t* enabled);
SINCE(26) DENIED amdsmi_status_t amdsmi_set_cpu_cc6_enable(amdsmi_processor_handle device, uint8_t enable);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_current_io_bandwidth(amdsmi_processor_handle device,
                                                    amdsmi_link_id_bw_type_t link, uint32_t* io_bw);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_current_xgmi_bw(amdsmi_processor_handle device,
                                               amdsmi_link_id_bw_type_t link, uint32_t* xgmi_bw);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_hsmp_metrics_table_version(amdsmi_processor_handle device,
                                                      uint32_t* metrics_version);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_hsmp_metrics_table(amdsmi_processor_handle device, void* metrics_table);
ABSENT("no device of a session")
amdsmi_status_t amdsmi_first_online_core_on_cpu_socket(amdsmi_processor_handle device, uint32_t* pcore_ind);
ABSENT("no device of a session") amdsmi_status_t amdsmi_get_cpu_family(uint32_t* cpu_family);
ABSENT("no device of a session") amdsmi_status_t amdsmi_get_cpu_model(uint32_t* cpu_model);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_model_name(amdsmi_processor_handle device, void* cpu_info);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_cores_per_socket(uint32_t sock_count, void* soc_info);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_socket_count(uint32_t* sock_count);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpu_enabled_commands(amdsmi_processor_handle device, bool* r_mask,
                                                uint32_t* mask0, uint32_t* mask1, uint32_t* mask2);
UNTIL(24) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_cpusocket_handles(uint32_t* socket_count, void* handles);

// --- network cards
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_nic_processor_handles(amdsmi_socket_handle socket_handle,
                                                 uint32_t* processor_count,
                                                 amdsmi_processor_handle* devices);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_nic_device_bdf(amdsmi_processor_handle device, amdsmi_bdf_t* bdf);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_nic_driver_info(amdsmi_processor_handle device, void* info);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_nic_asic_info(amdsmi_processor_handle device, void* info);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_nic_bus_info(amdsmi_processor_handle device, void* info);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_nic_numa_info(amdsmi_processor_handle device, void* info);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_nic_port_info(amdsmi_processor_handle device, void* info);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_nic_rdma_dev_info(amdsmi_processor_handle device, void* info);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_nic_rdma_port_statistics(amdsmi_processor_handle device,
                                                    uint32_t rdma_port_index, uint32_t* num_stats,
                                                    void* stats);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_nic_fw_info(amdsmi_processor_handle device, void* info);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_nic_port_statistics(amdsmi_processor_handle device, uint32_t port_index,
                                               uint32_t* num_stats, void* stats);
SINCE(26) ABSENT("no device of a session")
amdsmi_status_t amdsmi_get_nic_vendor_statistics(amdsmi_processor_handle device, uint32_t port_index,
                                                 uint32_t* num_stats, void* stats);

// --- fabrics
SINCE(26) ABSENT("fabrics are not carried")
amdsmi_status_t amdsmi_alloc_fabric_telemetry(amdsmi_processor_handle device, uint32_t category_mask,
                                              void** telemetry);
SINCE(26) ABSENT("fabrics are not carried")
amdsmi_status_t amdsmi_get_fabric_telemetry_data(amdsmi_processor_handle device, void* telemetry);
// That of 26 returns the text itself.
SINCE(27) ABSENT("fabrics are not carried")
amdsmi_status_t amdsmi_fabric_telem_id_to_string(uint64_t telem_id, const char** telem_name);
SINCE(26) ABSENT("fabrics are not carried")
amdsmi_status_t amdsmi_free_fabric_telemetry(amdsmi_processor_handle device, void* telemetry);
SINCE(26) ABSENT("fabrics are not carried")
amdsmi_status_t amdsmi_get_gpu_fabric_info(amdsmi_processor_handle device, void* info);
