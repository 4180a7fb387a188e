export const pluginsTexts = {
  title: 'Plugins',
  install: 'Install a plugin',
  head: ['Name', 'State', 'Version', 'Actions'],
  empty: 'No plugins.',
  updateTo: (version: string) => `Update to ${version}`,
  activate: 'Activate',
  deactivate: 'Deactivate',
  about: {
    update: (name: string) => `Update ${name}`,
    activate: (name: string) => `Activate ${name}`,
    deactivate: (name: string) => `Deactivate ${name}`,
    install: (name: string) => `Install ${name}`,
  },
  path: 'Its name in the directory, or the https address of its zip',
  installIt: 'Install it',
}
