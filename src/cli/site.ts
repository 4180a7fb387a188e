import { phpVersions } from '../hosting/php/runtime.ts'
import type { RuntimeKind } from '../hosting/php/runtime-kinds.ts'
import { Problem } from '../platform/http/problem.ts'
import type { NameSettings } from '../resources/access/service-names.ts'
import { aboutSite, changeBy } from '../resources/kit/change.ts'
import { type MoveRequest, requestMove } from '../resources/sites/move/request-move.ts'
import { restoreFromTrash, SiteIsLeaving } from '../resources/sites/remove/trash.ts'
import { findSiteNamed, holdSite } from '../resources/sites/site.store.ts'
import type { ControlDatabaseKey } from '../roles/process-context.ts'
import type { Call } from './command.ts'
import { CommandError, printOne } from './output.ts'
import { withControlDatabase } from './with-control-database.ts'

/** Runs `stead site restore`, with which an operator undoes a deletion. */
export async function restore({
  config,
  flags,
}: Call<{ name: string }, ControlDatabaseKey | keyof NameSettings>): Promise<void> {
  const name = flags.name.toLowerCase()
  return withControlDatabase(config, async ({ database }) => {
    const site = await database
      .transaction((tx) => restoreFromTrash(tx, name, { config, now: Date.now() }))
      .catch((error) => {
        throw error instanceof Problem || error instanceof SiteIsLeaving ? new CommandError(error.message) : error
      })
    if (!site) throw new CommandError(`The trash contains no site named ${name}`)
    printOne({ id: site.id, name: site.name, state: site.state }, flags.json)
  })
}

interface MoveFlags {
  readonly name: string
  readonly runtime: string
  readonly 'php-version'?: string | undefined
}

/**
 * Runs `stead site move`, which does the same as `PUT /v1/sites/{id}/runtime`, for operators of the machine. The host
 * of the site does the work.
 */
export async function move({ config, flags }: Call<MoveFlags, ControlDatabaseKey>): Promise<void> {
  const order: MoveRequest = {
    runtime: flags.runtime as RuntimeKind,
    phpVersion: phpVersions.find((version) => version === flags['php-version']),
  }
  const name = flags.name.toLowerCase()
  return withControlDatabase(config, async ({ database }) => {
    const operation = await database
      .transaction(async (tx) => {
        const found = await findSiteNamed(tx, name)
        const site = found && (await holdSite(tx, found.id))
        if (!site) throw new CommandError(`No site is named ${name}`)
        const change = changeBy(tx, { actor: 'systems', about: aboutSite(site), now: Date.now() })
        return { ...(await requestMove(tx, site, order, change)), id: site.id }
      })
      .catch((error) => {
        throw error instanceof Problem ? new CommandError(error.message) : error
      })
    printOne({ name, runtime: order.runtime, ...operation }, flags.json)
  })
}
