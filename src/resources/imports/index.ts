import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { expireImports, expireImportsOften } from './expire-imports.job.ts'
import { deleteImportsOfSite } from './import.store.ts'
import { importSite } from './import-site.job.ts'
import { inspectImport } from './inspect-import.job.ts'
import { problems } from './problems.ts'
import { removeImport } from './remove-import.job.ts'

export const imports = resource({
  tag: { name: 'Imports', description: 'Imports of sites from other hosts' },
  endpoints: () => import('./endpoints.ts'),
  jobs: { host: [inspectImport, importSite, removeImport], control: [expireImports] },
  schedules: [expireImportsOften],
  siteHooks: { forgotten: deleteImportsOfSite },
  problems,
  actions,
  events,
})
