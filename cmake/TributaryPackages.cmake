# Debian packages: one for each program and for the trainer, from one build. ./dev package makes
# them, and docs/install.md describes their use. Files without a component (library, headers) are in
# no package.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The Tributary developers")
set(CPACK_PACKAGE_CONTACT "The Tributary developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has one of its own
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON)  # settings go to /etc, whatever the prefix
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENTS_ALL "")

set(same_version "(= ${PROJECT_VERSION})")

# tributary_package(COMPONENT NAME package SUMMARY line DESCRIPTION text [DEPENDS list]
#                   [RECOMMENDS list] [SUGGESTS list] [ENHANCES list] [BREAKS list] [DOCS files...]
#                   [COPYRIGHT file]) describes one package. COPYRIGHT is needed if the program is
#                   not under our license alone.
function(tributary_package component)
  set(relations DEPENDS RECOMMENDS SUGGESTS ENHANCES BREAKS)
  cmake_parse_arguments(arg "" "NAME;SUMMARY;DESCRIPTION;COPYRIGHT;${relations}" "DOCS" ${ARGN})
  string(TOUPPER "${component}" upper)
  set(prefix CPACK_DEBIAN_${upper})
  set(${prefix}_PACKAGE_NAME "${arg_NAME}" PARENT_SCOPE)
  set(${prefix}_DESCRIPTION "${arg_SUMMARY}\n${arg_DESCRIPTION}" PARENT_SCOPE)
  foreach(relation IN LISTS relations)
    set(${prefix}_PACKAGE_${relation} "${arg_${relation}}" PARENT_SCOPE)
  endforeach()
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  # Only for packages: a plain install has its own place for these.
  if(NOT arg_COPYRIGHT)
    set(arg_COPYRIGHT packaging/debian/copyright)
  endif()
  install(FILES "${arg_COPYRIGHT}" RENAME copyright
          DESTINATION "/usr/share/doc/${arg_NAME}" COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES NOTICE ${arg_DOCS}
          DESTINATION "/usr/share/doc/${arg_NAME}" COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

# tributary_daemon_scripts(COMPONENT PACKAGE GECOS text UNITS names FILES paths) adds the scripts that
# dpkg runs, and names the settings files that it keeps if an administrator has changed them.
# packaging/debian/COMPONENT.configure becomes part of the script that runs after unpacking.
function(tributary_daemon_scripts component package)
  cmake_parse_arguments(arg "" "GECOS;UNITS;FILES" "" ${ARGN})
  foreach(name gecos units files)
    string(TOUPPER "${name}" upper)
    set(${name} "${arg_${upper}}")
  endforeach()
  set(configure "")
  if(EXISTS "${PROJECT_SOURCE_DIR}/packaging/debian/${component}.configure")
    file(READ "packaging/debian/${component}.configure" configure)
  endif()
  set(folder "${PROJECT_BINARY_DIR}/packaging/${component}")
  foreach(script postinst prerm postrm)
    configure_file("packaging/debian/${script}.in" "${folder}/${script}" @ONLY
                   FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
                                    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    list(APPEND scripts "${folder}/${script}")
  endforeach()
  file(CONFIGURE OUTPUT "${folder}/conffiles" CONTENT "/etc/tributary/${component}.toml\n")
  install(FILES "packaging/${component}.toml" DESTINATION /etc/tributary
          COMPONENT ${component} EXCLUDE_FROM_ALL)
  string(TOUPPER "${component}" upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA "${scripts};${folder}/conffiles" PARENT_SCOPE)
endfunction()

set(about "A federated training runtime for edge devices: many devices train one model together
over slow and changing links, and every byte they exchange is compressed and
counted.")
file(GLOB pages CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "docs/*.md")
set(guides docs/install.md docs/run.md docs/training.md docs/data.md docs/security.md)

tributary_package(tool NAME tributary
  SUMMARY "federated training on edge devices: command line"
  DESCRIPTION "${about}\n.\nThis package has the operator's command (keys, jobs, codecs, plans, reports and\nsimulation) and the tools for load tests and labs."
  RECOMMENDS "iproute2"
  DOCS ${pages})

tributary_package(coordinator NAME tributary-coordinator
  SUMMARY "federated training on edge devices: coordinator"
  DESCRIPTION "${about}\n.\nThis package has the coordinator, a service to which agents connect. It plans
rounds, combines the updates of agents and keeps the journal."
  DEPENDS "adduser | systemd-sysusers, tributary ${same_version}"
  SUGGESTS "tributary-torch ${same_version}"
  DOCS ${guides} docs/jobs.md docs/watch.md)
tributary_daemon_scripts(coordinator tributary-coordinator
  GECOS "Tributary coordinator"
  UNITS "tributary-coordinator.service"
  FILES "/etc/tributary/coordinator.key /etc/tributary/coordinator.key.pub /etc/tributary/agents.allow")

tributary_package(agent NAME tributary-agent
  SUMMARY "federated training on edge devices: agent"
  DESCRIPTION "${about}\n.\nThis package has the agent, a service on each device. It trains on the device's
data and exchanges compressed updates with a coordinator."
  DEPENDS "adduser | systemd-sysusers"
  RECOMMENDS "tributary-torch ${same_version}"
  DOCS ${guides})
tributary_daemon_scripts(agent tributary-agent
  GECOS "Tributary agent"
  UNITS "tributary-agent.path tributary-agent.service"
  FILES "/etc/tributary/agent.join")
tributary_package(switchd NAME tributary-switchd
  SUMMARY "federated training on edge devices: aggregator in the network"
  DESCRIPTION "${about}\n.\nThis package has the aggregator, a service on a gateway near the agents. It adds
their updates, so that the line to the coordinator carries no sums."
  DEPENDS "adduser | systemd-sysusers"
  SUGGESTS "tributary ${same_version}"
  DOCS docs/in_network.md docs/install.md docs/run.md docs/security.md)
tributary_daemon_scripts(switchd tributary-switchd
  GECOS "Tributary aggregator"
  UNITS "tributary-switchd.path tributary-switchd.service"
  FILES "/etc/tributary/switchd.join")
install(FILES packaging/gpu.conf DESTINATION /usr/share/doc/tributary-agent/examples
        COMPONENT agent EXCLUDE_FROM_ALL)
install(FILES packaging/xdp.conf DESTINATION /usr/share/doc/tributary-switchd/examples
        COMPONENT switchd EXCLUDE_FROM_ALL)
install(FILES packaging/evaluation.conf DESTINATION /usr/share/doc/tributary-coordinator/examples
        COMPONENT coordinator EXCLUDE_FROM_ALL)

if(TARGET tributary_torch_plugin)
  # They pass objects of C++ to one another and must be of one version.
  set(other_versions "")
  foreach(daemon tributary-agent tributary-coordinator)
    list(APPEND other_versions "${daemon} (<< ${PROJECT_VERSION})"
                               "${daemon} (>> ${PROJECT_VERSION})")
  endforeach()
  list(JOIN other_versions ", " other_versions)
  tributary_package(torch NAME tributary-torch
    SUMMARY "federated training on edge devices: libtorch trainer"
    DESCRIPTION "${about}\n.\nThis package has the trainer, a library with which agents train models in
libtorch and coordinators evaluate them."
    ENHANCES "tributary-agent, tributary-coordinator"
    BREAKS "${other_versions}")
endif()

if(TARGET tributary_dashboard)
  tributary_package(dashboard NAME tributary-dashboard
    SUMMARY "federated training on edge devices: dashboard"
    DESCRIPTION "${about}\n.\nThis package has the dashboard, which shows learning, traffic and planning of a
run, live or afterwards. The program is distributed under the GNU General Public
License, version 3, because of its plotting library."
    SUGGESTS "tributary-coordinator ${same_version}"
    RECOMMENDS "fonts-dejavu-core"
    COPYRIGHT packaging/debian/dashboard.copyright
    DOCS docs/dashboard.md)
endif()

if(CMAKE_CROSSCOMPILING)
  # What a device installs. The libraries are looked for where the compiler found them, and so is
  # what package each belongs to: the one that is installed here is of another machine.
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
  list(REMOVE_ITEM CPACK_COMPONENTS_ALL coordinator)
  set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_BINARY_DIR}/packaging/cross.cmake")
  file(CONFIGURE OUTPUT "${CPACK_PROJECT_CONFIG_FILE}" CONTENT
       "set(SHLIBDEPS_EXECUTABLE env DEB_HOST_ARCH=arm64 dpkg-shlibdeps \"-S${CMAKE_SYSROOT}\")\n")
endif()

include(CPack)
