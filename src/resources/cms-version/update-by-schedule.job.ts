import type { Tx } from '../../platform/db/database.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
} from '../../platform/operations/definition.ts'
import { wasBegun } from '../../platform/operations/steps-of.ts'
import { raiseAlert } from '../alerts/public.ts'
import { changeOfJob } from '../kit/change.ts'
import type { HostServices } from '../kit/host-services.ts'
import { openAfterFailure } from '../sites/public.ts'
import { actions } from './actions.ts'
import { rememberThatItFailed, undoneUpdate } from './remember-failure.ts'
import type { ReleaseOrder } from './replace-release.ts'
import { whyNotUpdated } from './security-release.ts'
import { replacement, updateDefinition } from './update-cms-version.job.ts'

/** Limit for each host, and only while no other work waits. */
const AT_ONCE = 2

/** The same update as a requested one, for a security release that nobody requested. */
export const updateBySchedule = durableWith<HostServices>()({
  name: 'site.update_cms_version_by_schedule',
  ...updateDefinition,
  atOnce: AT_ONCE,
  // A closed site is open soonest when its update ends. Stead plans the update again.
  yields: async (tx, { operationId }) => !(await wasBegun(tx, operationId, 'close')),
  steps: { wanted: replacement.open({ run: requireWanted }), ...updateDefinition.steps },
  failed: tellOwner,
})

/**
 * Checks again whether the update is wanted, because the site, its account or the release may have changed since it was
 * planned, especially before a retry.
 */
async function requireWanted({ services, input }: StepContext<ReleaseOrder, HostServices>): Promise<void> {
  const reason = await whyNotUpdated(services.database.read, input)
  if (reason !== undefined) throw new PermanentFailure(reason)
}

async function tellOwner(tx: Tx, context: FailureContext<ReleaseOrder>): Promise<void> {
  const { input, canceled } = context
  const { siteId, version } = input
  const failure = await openAfterFailure(tx, context)
  if (!failure.site || (await whyNotUpdated(tx, input)) !== undefined) return
  const { reason } = failure
  const isFinal = await rememberThatItFailed(tx, context)
  if (canceled) return
  await changeOfJob(tx, context).record({
    action: actions['wordpress.version_failed'],
    message: `The automatic update to the WordPress security release ${version} failed: ${reason}`,
  })
  const detail = `WordPress ${version} is a security release, and could not be installed: ${reason}. Stead does not retry it automatically. Resolve the cause, then update WordPress`
  if (isFinal) await raiseAlert(tx, { ...undoneUpdate(siteId), detail }, context.now())
}
