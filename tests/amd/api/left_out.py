# SPDX-License-Identifier: Apache-2.0
"""Cases of the API suite that AMD's runtimes above the stand-in cannot pass, or not in time: patterns by reason.

Most that were run natively on 5.2.3 (some 60) fail there as well. api_test.py --left-out --natively runs them.
"""

# Of each runtime.
_EVERYWHERE = {
    "AMD's runtime above ROCr makes no cubemaps": [
        "Array.CubemapsKeepTheirElements", "Surface.Cubemaps", "TextureReads.Faces*",
        "TextureReads.AViewOfACubemapHasAllFaces", "TextureReads.LayersOfCubemaps",
        "TextureReads.LoadsBeyondTheLastLayerAreZero"],
    "AMD's runtime above ROCr makes no mipmapped arrays": [
        "MipmappedArray.*", "*/MipmappedArray", "TextureReads.GradientsSayTheLevel", "TextureReads.LevelsOfDetail",
        "TextureReads.ViewsOfLevels", "ModuleTextures.ReadArrays"],
    "AMD's runtime has black borders only, and views of a format only": [
        "TextureReads.BordersHaveTheirColor", "TextureReads.ViewsOfLayers"],
    # These pass on gfx1100 (hip_api_textures).
    "gfx90a has no linear filters in three axes, and does not gather": [
        "TextureReads.LinearFiltersMixInThreeAxes", "TextureReads.GathersFourElements"],
    "a call waits inside AMD's runtime while a host function runs, which waits for the caller": [
        "Copy.PageableCopiesWhileAnotherStreamStandsStill", "Event.RecordedAgainItIsAnotherMatter",
        "Stream.HostFunctionsDoNotHoldUpOtherStreams", "Spt.EventsAndHostFunctions", "Spt.Fills", "Spt.CopiesOf*"],
    "AMD's 5.2.3 waits inside a record of an event that processes share, and in a query; 6.4.3's query is too early": [
        "Ipc.AnEventOrdersTwoProcesses", "Ipc.ARecorderThatDiesHoldsNobodyUp"],
    "AMD's runtime answers otherwise: launch bounds in occupancy, managed memory": [
        "*.Occupancy", "Memory.IsManagedWhereTheDeviceSaysSo"],
    "AMD's hiprtc has no bitcode to link, or says less of it": ["RtcLink.WhatIsMissingIsInTheLog"],
    "kernels of millions of steps: the interpreter takes too long": [
        "KernelOrder.MoreThanAQueueHolds", "Kinds/*.RunsWhileItsStreamIsFull/*"],  # the latter pass, in 34 s of a core
    "the device library errs by more than a unit of the last place, and clamps every dot product of halves": [
        "DeviceFunctions.DelicateMathIsExactOnCores", "DeviceFunctions.DotProducts"],
    "AMD's 5.2.3 has no hipDeviceSetLimit, 6.4.3 goes beyond it; their hiprtc has no operator new": [
        "Heap.ItsLimitHolds", "Heap.KernelsOfAnotherModuleShareIt"],
    "programs of other tests": ["*.DISABLED_*"],
}
_BEFORE_7 = {
    "AMD's runtime ends the process where a kernel fails": ["*/FailedKernelTold.*"],
}
_OF_5 = {
    "AMD's 5.2.3 makes no arrays for surfaces": [
        "Surface.*", "TextureReads.SurfacesAreReadAndWritten", "TextureReads.ObjectsKeepTheMemoryOfTheirArray"],
    "AMD's 5.2.3 frees an array that a texture still reads": ["TextureReads.ATextureKeepsItsArray"],
    "AMD's 5.2.3 has no virtual memory on Linux": [
        "VirtualMemory.*", "SharedPhysical.*", "PointerAttribute.EndsWithTheMapping"],
    "a call waits inside AMD's 5.2.3 while a host function runs, which waits for the caller": [
        "CopyOrder.ASmallCopyWaitsForItsStream", "Stream.CommandsReturnWhileTheStreamIsBusy",
        "LateWork.FillsOfDeviceMemoryDoNotWait", "LateWork.FillsDoNotWaitWhileOtherMemoryIsShared"],
    "AMD's 5.2.3 answers otherwise: limits": ["Limit.*"],
    "AMD's hiprtc 5.2.3 has older headers, and no bitcode to link": [
        "Rtc.HeadersThatNobodyIncludes", "Rtc.WhatNewerHeadersHave", "Rtc.TheTypeOf*",
        "RtcLink.PartsBecomeOneCodeObject"],
    "AMD's 5.2.3 crashes where memory of another process is not of the current device": [
        "Ipc.MemoryOfAnyDeviceIsShared", "IpcDevices.KernelsOfAnotherDeviceUseTheMemory"],
}
_SINCE_6 = {
    "AMD's 6.4.3 makes no texture of layers for gfx90a that filters": ["TextureReads.LayersAreNotMixed"],
    "the device has less memory in use afterwards than before (not known why)": [
        "TextureReads.ObjectsKeepTheMemoryOfTheirArray"],
    "AMD's hiprtc 6.4.3 says nothing of what is no bitcode": ["RtcLink.WhatIsNoBitcodeIsRefused"],
    "AMD's 6.4.3 goes beyond the limit of its heap": ["Heap.AResetFreesIt"],
}
_SINCE_7 = {
    "AMD's 7.2.4 answers hipFree and calls of events with 719 after a kernel has failed": ["*/FailedKernelTold.*"],
    "AMD's 7.2.4 says otherwise that memory of a texture is not aligned": ["Texture.WhatCannotBeIsRefused"],
    "AMD's hiprtc 7.2.4 links only where there is a libamdhip64.so, which is for development": [
        "RtcLink.PartsBecomeOneCodeObject"],
    # Its copies reach the stand-in with no signal to wait for. DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING=0: the case passes.
    "AMD's 7.2.4 starts a graph's branches beyond the first without waiting for the stream's earlier work": [
        "CopySemanticsOfGraphs.ALaunchKeepsTheRule"],
}


def left_out(major):
    """By reason, of AMD's runtime of this major."""
    parts = {5: [_BEFORE_7, _OF_5], 6: [_BEFORE_7, _SINCE_6]}.get(major, [_SINCE_6, _SINCE_7])
    return {why: patterns for part in (_EVERYWHERE, *parts) for why, patterns in part.items()}


# What is about several devices, for a stand-in with as many agents.
SEVERAL_DEVICES = [
    "Device.*", "Event.BelongsToItsDevice", "Graph.KeepsTheDeviceOfItsCapture", "*HostAccess.EveryDevice*", "Ipc.*",
    "IpcDevices.*", "LateWork.CopiesBetweenDevices*", "Launch.OnTheDevice*", "MultiDeviceLaunch.*", "StreamOrder.*",
    "Stream.KnowsItsDevice", "Thread.EachHasItsDevice", "*VisibleDevices.*"]
