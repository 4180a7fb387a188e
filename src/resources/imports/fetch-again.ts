import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ArchiveRefused } from '../../hosting/archives/unpack-zip.ts'
import { lookAtContent } from '../../hosting/site-imports/look-at-content.ts'
import { dumpOf, stageDatabase } from '../../hosting/site-imports/stage-database.ts'
import { contentFolder } from '../../hosting/site-imports/stage-files.ts'
import { PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import type { HostServices } from '../kit/host-services.ts'
import { planOf } from './build-plan.ts'
import { changeImport, findImport } from './import.store.ts'
import { fetchOldSite } from './old-site/fetch-old-site.ts'
import { folderOf, stagingBounds } from './staging.ts'

type Context = StepContext<
  { readonly siteId: number; readonly importId: number; readonly fetchAgain?: boolean | undefined },
  HostServices
>

/**
 * Fetches from the running old site what has changed since the inspection, with a fresh dump, and recreates the plan.
 * Keeps the staged dump until the new one has been read to its end.
 */
export async function fetchAgain(context: Context): Promise<void> {
  const { services, input, signal } = context
  if (!input.fetchAgain) return
  const found = await findImport(services.database.read, input.siteId, input.importId)
  if (!found?.live) return
  const folder = folderOf(services.config.dataDir, found.id)
  const again = join(folder, 'again')
  await rm(again, { recursive: true, force: true })
  await mkdir(again, { recursive: true, mode: 0o700 })
  try {
    const unpack = await fetchOldSite(context, found, again)
    const database = await stageDatabase(again, unpack, { ...stagingBounds(services.config), signal })
    const content = await lookAtContent(contentFolder(folder), signal)
    const plan = await planOf(services, input.siteId, { unpack, database, content })
    await rename(dumpOf(again), dumpOf(folder))
    await context.transaction((tx) => changeImport(tx, found.id, { plan }))
  } catch (error) {
    if (!(error instanceof ArchiveRefused)) throw error
    throw new PermanentFailure(`The old site cannot be imported: ${error.message}`, { cause: error })
  } finally {
    await rm(again, { recursive: true, force: true })
  }
}
