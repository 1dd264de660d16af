# SPDX-License-Identifier: Apache-2.0
# Process 1 of the guest once the root file system is there: soft-RoCE devices, then the script, then power-off.
# The kernel writes to the first serial line; everything from here on goes to the second, which the host shows.
exec </dev/null >/dev/ttyS1 2>&1
busybox stty -F /dev/ttyS1 -opost
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 VM=/run/vm
ulimit -l unlimited
ulimit -c 0
hostname hip-remote-vm
ln -s /proc/self/fd /dev/fd # for <(...) of scripts
mount -t cgroup2 none /sys/fs/cgroup || echo "boot: no cgroups"
source "$VM/config" # NETWORK: pair, or the end of a wire between two machines: near (10.9.0.1), far (10.9.0.2)

while read -r module; do
  busybox insmod "/run/modules/$module.ko" || echo "boot: module $module was not loaded"
done </run/modules/rdma.order

# rxe binds what it sends to its network device, so packets cross the veth wire even inside one machine, if the kernel
# takes packets from addresses of its own. Bursts of a whole READ overrun the default backlog, and MTU 4200 carries
# the largest RDMA packet (4096).
device() { # NAME INTERFACE ADDRESS
  local setting
  for setting in accept_local=1 rp_filter=0 arp_ignore=1 arp_announce=2; do
    echo "${setting#*=}" >"/proc/sys/net/ipv4/conf/$2/${setting%=*}"
  done
  ip link set "$2" mtu 4200 2>/dev/null || ip link set "$2" mtu 1500
  ip addr add "$3/24" dev "$2"
  ip link set "$2" up
  rdma link add "$1" type rxe netdev "$2" || echo "boot: no device $1"
}
ip link set lo up
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
echo 1 >/proc/sys/net/ipv4/conf/all/accept_local
echo 100000 >/proc/sys/net/core/netdev_max_backlog
case $NETWORK in
  pair)
    ip link add v0 type veth peer name v1
    device rxe0 v0 10.9.0.1
    device rxe1 v1 10.9.0.2 ;;
  near) device rxe0 eth0 10.9.0.1 ;;
  far) device rxe0 eth0 10.9.0.2 ;;
esac
mkdir -p "$VM/out"
cut -d' ' -f1 /proc/uptime >"$VM/up"

cd /
bash "$VM/script.sh"
status=$?
cut -d' ' -f1 /proc/uptime >"$VM/ended"
awk '/^MemAvailable/ {print int($2 / 1024)}' /proc/meminfo >"$VM/memory_left"
echo "$status" >"$VM/status"
sync
echo o >/proc/sysrq-trigger
while :; do :; done # until it is off; programs can no longer be started
