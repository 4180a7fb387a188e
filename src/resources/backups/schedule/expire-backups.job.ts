import Type from 'typebox'
import { durableWith, type StepContext } from '../../../platform/operations/definition.ts'
import { changeOfJob } from '../../kit/change.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { actions, events } from '../actions.ts'
import { forgetBackup } from '../backup.store.ts'
import { nameInRepository, siteOwner } from '../backup.ts'
import { type Expired, expiredOf } from './schedule.store.ts'

const Input = Type.Object({ siteId: Type.Integer() })
type Context = StepContext<Type.Static<typeof Input>, HostServices>

/**
 * Removes the expired backups of a site. It runs in the site's own queue, so no backup goes while it is being restored.
 */
export const expireBackups = durableWith<HostServices>()({
  name: 'backup.expire',
  input: Input,
  on: 'host',
  changeableBy: 'account',
  atOnce: 2,
  steps: {
    remove: { run: removeExpired },
    sweep: { run: sweep },
  },
})

async function removeExpired(context: Context): Promise<void> {
  const { services, input, now, signal } = context
  const repository = services.backups.repository(siteOwner(input.siteId))
  for (const expired of await expiredOf(services.database.read, input.siteId, now())) {
    signal.throwIfAborted()
    await repository.remove(nameInRepository(expired))
    await context.transaction(async (tx) => {
      await forgetBackup(tx, expired.id)
      await tell(changeOfJob(tx, context), expired)
    })
  }
}

/** Reports only backups that users requested, because the others come and go automatically. */
async function tell(change: ReturnType<typeof changeOfJob>, { id, kind, origin, state }: Expired): Promise<void> {
  if (origin !== 'ondemand' || state !== 'completed') return
  const event = { type: events.ondemand_backup_deleted, data: { id: String(id), type: kind } }
  await change.record({
    action: actions['backup.deleted'],
    message: `Deleted on-demand backup ${id} because it expired`,
    event,
  })
}

async function sweep({ services, input, signal }: Context): Promise<void> {
  await services.backups.repository(siteOwner(input.siteId)).sweep({ signal })
}
