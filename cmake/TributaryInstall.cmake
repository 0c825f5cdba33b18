# What `cmake --install` leaves behind, and how find_package(tributary) finds it.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tributary")
install(TARGETS tributary_core tributary_schemas tributary_cost tributary_link tributary_in_network
                tributary_collective tributary_round tributary_store
        EXPORT tributaryTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tributary"
        FILE_SET lone_headers DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tributary")
if(TARGET tributary_cli)
  install(TARGETS tributary_cli tributary_lab_tool tributary_load_tool
          RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tool)
endif()
if(TARGET tributary_dashboard)
  install(TARGETS tributary_dashboard RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
          COMPONENT dashboard)
  install(FILES packaging/tributary-dashboard.desktop
          DESTINATION "${CMAKE_INSTALL_DATADIR}/applications" COMPONENT dashboard)
endif()
foreach(daemon coordinator agent switchd)
  install(TARGETS tributary_${daemon}
          RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT ${daemon})
  # A unit names its program by where that is, which is not known before it is installed.
  set(unit "tributary-${daemon}.service")
  install(CODE "
    set(TRIBUTARY_BINDIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
    configure_file(\"${PROJECT_SOURCE_DIR}/packaging/${unit}.in\"
                   \"${PROJECT_BINARY_DIR}/packaging/${unit}\" @ONLY)" COMPONENT ${daemon})
  install(FILES "${PROJECT_BINARY_DIR}/packaging/${unit}"
          DESTINATION lib/systemd/system COMPONENT ${daemon})
  install(FILES "packaging/tributary-${daemon}.sysusers" DESTINATION lib/sysusers.d
          RENAME "tributary-${daemon}.conf" COMPONENT ${daemon})
endforeach()
if(TARGET tributary_switch_xdp)
  install(TARGETS tributary_switch_xdp RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT switchd)
endif()
foreach(daemon agent switchd)
  install(FILES "packaging/tributary-${daemon}.path" DESTINATION lib/systemd/system
          COMPONENT ${daemon})
endforeach()
install(EXPORT tributaryTargets NAMESPACE tributary:: DESTINATION "${package_dir}")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/tributaryConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/tributaryConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/tributaryConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tributaryConfig.cmake"
              "${PROJECT_BINARY_DIR}/tributaryConfigVersion.cmake"
        DESTINATION "${package_dir}")
install(FILES LICENSE NOTICE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
