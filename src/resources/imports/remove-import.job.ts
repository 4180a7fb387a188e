import { rm } from 'node:fs/promises'
import Type from 'typebox'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import type { HostServices } from '../kit/host-services.ts'
import { deleteImportRow } from './import.store.ts'
import { folderOf, removeForgotten } from './staging.ts'

const Order = Type.Object({ siteId: Type.Integer(), importId: Type.Integer() })
type Context = StepContext<Type.Static<typeof Order>, HostServices>

/** Removes the staged data of an import, and forgets the import. */
export const removeImport = durableWith<HostServices>()({
  name: 'import.remove',
  input: Order,
  on: 'host',
  changeableBy: { site: 'restore the site' },
  steps: {
    remove: { run: removeStaged },
    forget: { commit: (tx, { input }: Context) => deleteImportRow(tx, input.importId) },
  },
})

async function removeStaged({ services, input }: Context): Promise<void> {
  await rm(folderOf(services.config.dataDir, input.importId), { recursive: true, force: true })
  await removeForgotten(services)
}
