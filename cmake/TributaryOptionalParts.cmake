# Parts that need something a plain machine may not have. Each switches itself on where that is
# found; the summary says what was missing otherwise.

# CUDA: the compiler decides; a GPU and its driver are needed only to run. Clang with CUDA 12's headers
# and assembler (./dev setup --cuda) makes device code that the drivers of JetPack 6 take, also in cross
# builds. Otherwise nvcc makes it, for drivers of its own major version.
include(CheckLanguage)
set(TRIBUTARY_CUDA_TOOLKIT "${PROJECT_SOURCE_DIR}/build/cuda12" CACHE PATH
    "CUDA 12's headers, ptxas and libdevice, for clang")
if(TRIBUTARY_SANITIZE)
  tributary_part("codec on CUDA" off "sanitizers check the kernels on the emulated device")
else()
  find_program(TRIBUTARY_CUDA_CLANG NAMES clang++-19)
  set(cuda_found FALSE)
  set(cuda_clang FALSE)
  if(TRIBUTARY_CUDA_CLANG AND EXISTS "${TRIBUTARY_CUDA_TOOLKIT}/bin/ptxas")
    set(cuda_found TRUE)
    set(cuda_clang TRUE)
    set(cuda_driver 12000)
    # Machine code for Ampere, Jetson Orin and Hopper. Other devices compile the PTX at the start. Older
    # ones lack instructions that the kernels use (__reduce_max_sync).
    set(cuda_machine 80,87,90)
    set(cuda_ptx 80,90)
    if(TRIBUTARY_ASSERTIONS)
      set(cuda_machine 80)  # one shows what does not compile
      set(cuda_ptx 80)
    endif()
    set(cuda_text "${TRIBUTARY_CUDA_CLANG} with CUDA 12, compute capabilities ${cuda_machine}")
  elseif(NOT CMAKE_CROSSCOMPILING)
    check_language(CUDA)
  endif()
  if(CMAKE_CUDA_COMPILER AND NOT cuda_clang)
    set(cuda_found TRUE)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80 87-real 90)
      if(TRIBUTARY_ASSERTIONS)
        set(CMAKE_CUDA_ARCHITECTURES 80)
      endif()
    endif()
    set(CMAKE_CUDA_RUNTIME_LIBRARY None)
    enable_language(CUDA)
    # nvcc has C++20 since 12.0, which CMake 3.25 does not know yet.
    if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    string(REGEX MATCH "^[0-9]+" cuda_driver "${CMAKE_CUDA_COMPILER_VERSION}")
    string(APPEND cuda_driver "000")
    set(cuda_text "CUDA compiler ${CMAKE_CUDA_COMPILER}")
  endif()
  tributary_optional_part("codec on CUDA" core/codec/cuda/gpu "${cuda_found}" "${cuda_text}"
    "no CUDA compiler (clang and CUDA 12 by ./dev setup --cuda, or nvcc on the path); results are the same without")
  if(TARGET tributary_cuda AND NOT CMAKE_CROSSCOMPILING)
    add_subdirectory(bench/cuda)
  endif()
endif()

# Not with sanitizers: libtorch is built without, and would be what is found.
if(TRIBUTARY_SANITIZE)
  tributary_optional_part("libtorch trainer" core/train/torch OFF "" "not with sanitizers")
else()
  find_package(Torch QUIET)
  tributary_optional_part("libtorch trainer" core/train/torch "${Torch_FOUND}"
    "libtorch ${Torch_VERSION}" "no libtorch; Debian has it as libtorch-dev")
endif()

# Not with sanitizers: Qt and the fonts below it keep what they have allocated, and are built without.
# Nor in cross builds: a device has no desktop.
if(TRIBUTARY_SANITIZE)
  tributary_part("dashboard" off "not with sanitizers")
elseif(CMAKE_CROSSCOMPILING)
  tributary_part("dashboard" off "not in cross builds")
else()
  find_package(Qt6 QUIET COMPONENTS Widgets PrintSupport Svg Test)
  find_package(QCustomPlotQt6 QUIET)
  set(dashboard_found FALSE)
  set(dashboard_missing "")
  if(NOT Qt6_FOUND)
    string(APPEND dashboard_missing
      "no Qt 6 with its SVG module; Debian has them as qt6-base-dev and qt6-svg-dev")
  elseif(NOT QCustomPlotQt6_FOUND)
    string(APPEND dashboard_missing "no QCustomPlot for Qt 6; Debian has it as libqcustomplot-dev")
  else()
    set(dashboard_found TRUE)
  endif()
  tributary_optional_part("dashboard" dashboard "${dashboard_found}"
    "Qt ${Qt6_VERSION}, QCustomPlot" "${dashboard_missing}")
  if(dashboard_found)
    add_subdirectory(bench/dashboard)
    if(BUILD_TESTING AND TRIBUTARY_PROGRAMS)
      add_subdirectory(tests/dashboard)
    endif()
    if(TARGET federation_test)
      add_dependencies(federation_test tributary_dashboard)  # a demonstration opens it
    endif()
  endif()
endif()

# The program for switches is text for their own compilers. Its tests look for tools when they run.
if(BUILD_TESTING AND TRIBUTARY_PROGRAMS)
  add_subdirectory(switch_p4/p4)
  add_subdirectory(switch_p4/tofino)
  tributary_part("P4 switch" built
    "tests; tools by P4C_BM2, SIMPLE_SWITCH and P4C_TOFINO when they run")
else()
  tributary_part("P4 switch" off "only its tests are built, and not with sanitizers")
endif()

# A loader for another machine could be built, but nothing here could run its tests.
if(CMAKE_CROSSCOMPILING)
  tributary_part("XDP gateway" off "not in cross builds")
else()
  pkg_check_modules(libbpf QUIET IMPORTED_TARGET GLOBAL libbpf>=1.0)
  find_program(TRIBUTARY_BPF_CLANG NAMES clang clang-14)
  set(xdp_found FALSE)
  set(xdp_missing "")
  if(NOT libbpf_FOUND)
    set(xdp_missing "no libbpf; Debian has it as libbpf-dev")
  elseif(NOT TRIBUTARY_BPF_CLANG)
    set(xdp_missing "no clang, which compiles for BPF; Debian has it as clang")
  else()
    execute_process(COMMAND "${TRIBUTARY_BPF_CLANG}" -target bpf -mcpu=v3 -x c -c /dev/null -o /dev/null
                    RESULT_VARIABLE bpf_result OUTPUT_QUIET ERROR_QUIET)
    if(bpf_result EQUAL 0)
      set(xdp_found TRUE)
    else()
      set(xdp_missing "${TRIBUTARY_BPF_CLANG} does not compile for BPF")
    endif()
  endif()
  tributary_optional_part("XDP gateway" switch_p4/xdp "${xdp_found}"
    "libbpf ${libbpf_VERSION}; tributary-switch-xdp" "${xdp_missing}")
endif()

# Not with sanitizers, nor with fuzzers, which leave the benchmarks out: it is only measured.
if(TRIBUTARY_SANITIZE)
  tributary_part("gloo, as a peer" off "not with sanitizers")
else()
  find_package(Gloo QUIET)
  tributary_optional_part("gloo, as a peer" bench/gloo "${Gloo_FOUND}"
    "gloo ${GLOO_VERSION}; bench/gloo/tributary-bench-gloo"
    "no gloo; ./dev setup --bench installs Debian's libgloo-dev")
endif()

# Not with sanitizers: Open MPI keeps what it has allocated. Nor in cross builds, which have no
# mpirun for the device's ranks.
if(TRIBUTARY_SANITIZE)
  tributary_part("mesh over MPI" off "not with sanitizers")
  tributary_part("agent over MPI" off "not with sanitizers")
elseif(CMAKE_CROSSCOMPILING)
  tributary_part("mesh over MPI" off "not in cross builds")
  tributary_part("agent over MPI" off "not in cross builds")
else()
  pkg_check_modules(mpi QUIET IMPORTED_TARGET GLOBAL ompi-c)
  if(mpi_FOUND)
    # Its C++ bindings are not MPI's any more, and need a library of their own.
    target_compile_definitions(PkgConfig::mpi INTERFACE OMPI_SKIP_MPICXX)
  endif()
  tributary_optional_part("mesh over MPI" core/net/mpi "${mpi_FOUND}"
    "Open MPI ${mpi_VERSION}" "no Open MPI; Debian has it as libopenmpi-dev and openmpi-bin")
  tributary_optional_part("agent over MPI" edge_agent/mpi "${mpi_FOUND}"
    "tributary-agent-mpi" "no Open MPI; Debian has it as libopenmpi-dev and openmpi-bin")
endif()
