import Type from 'typebox'
import type { Tx } from '../../../platform/db/database.ts'
import { oneOf } from '../../../platform/http/schemas.ts'
import { durable, type FailureContext, type StepContext } from '../../../platform/operations/definition.ts'
import { recordResults, resultsOfOperation, type SiteResult } from '../../../platform/operations/results.ts'
import { holds, type SiteCapability } from '../../access/access.ts'
import { roles } from '../../access/roles.ts'
import { type Account, findAccount } from '../../account/public.ts'
import { aboutSite, changeBy } from '../../kit/change.ts'
import type { Source } from '../../kit/source-of-request.ts'
import { holdSite, type Site, sitesWithRights } from '../../sites/public.ts'
import { findMembership, membershipsAmong } from '../collaborator.store.ts'
import { countOf, mailNotice, mailOutcome } from '../mails.ts'
import { type By, changeRoles, isFull, joinSite, leaveSite } from '../membership.ts'

const SiteIds = Type.Array(Type.Integer())
const CreateInput = Type.Object({
  accountId: Type.Integer(),
  siteIds: SiteIds,
  /** If absent, existing collaborators keep their roles, and new ones get none. */
  roles: Type.Optional(Type.Array(oneOf(roles))),
  /** Whether the collaborator got an invitation with the request. */
  isInvited: Type.Boolean(),
})
type CreateInput = Type.Static<typeof CreateInput>
const DestroyInput = Type.Object({
  email: Type.String(),
  /** `null` if no account has this address. */
  accountId: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
  siteIds: SiteIds,
  deletesWpUser: Type.Boolean(),
})
type DestroyInput = Type.Static<typeof DestroyInput>

/** Adds one account to many sites, or changes its roles there. Each site is a separate transaction. */
export const batchCreate = durable({
  name: 'collaborator.batch_create',
  input: CreateInput,
  on: 'control',
  changeableBy: 'account',
  steps: {
    sites: {
      async run(context: StepContext<CreateInput>) {
        const { input } = context
        await eachSite(context, 'add collaborators', async (tx, site, by) => {
          const account = (await findAccount(tx, input.accountId)) as Account
          if (account.id === site.accountId) return { outcome: 'skipped', message: 'The collaborator owns this site' }
          const member = await findMembership(tx, site.id, account.id)
          if (!member) {
            if (await isFull(tx, site.id)) return { outcome: 'skipped', message: 'The site has too many collaborators' }
            const { wpOperationId } = await joinSite(tx, site, account, input.roles ?? [], by)
            return { outcome: 'added', followUpId: wpOperationId }
          }
          const { isChanged, wpOperationId } = await changeRoles(tx, site, member, input.roles ?? member.roles, by)
          return { outcome: isChanged ? 'updated' : 'unchanged', followUpId: wpOperationId }
        })
      },
      weight: 20,
    },
    mail: {
      async commit(tx: Tx, context: StepContext<CreateInput>) {
        const { caller } = context.source as Source
        const account = (await findAccount(tx, context.input.accountId)) as Account
        const results = await resultsOfOperation(tx, context.operationId)
        const added = results.filter(({ outcome }) => outcome === 'added').map(({ siteId }) => siteId)
        const given = {
          accountId: caller.accountId,
          from: caller.accountEmail,
          to: account.email,
          toId: account.id,
          what: countOf(added.length, 'site'),
          on: { siteIds: added },
        }
        if (added.length > 0 && !context.input.isInvited) await mailNotice(tx, given, context.now())
        await mailDone(tx, context, `Finished adding ${account.email}`, results)
      },
    },
  },
  failed: async (tx, context) =>
    mailFailed(tx, context, `Adding ${(await findAccount(tx, context.input.accountId))?.email} stopped before the end`),
})

/** Removes one account from many sites. */
export const batchDestroy = durable({
  name: 'collaborator.batch_destroy',
  input: DestroyInput,
  on: 'control',
  changeableBy: 'account',
  steps: {
    absent: {
      async commit(tx: Tx, { input, operationId }: StepContext<DestroyInput>) {
        const present = await membershipsAmong(tx, input.accountId ?? 0, input.siteIds)
        const absent = input.siteIds.filter((id) => !present.has(id))
        await recordResults(
          tx,
          operationId,
          absent.map((siteId) => ({ siteId, outcome: 'absent' })),
        )
      },
    },
    sites: {
      async run(context: StepContext<DestroyInput>) {
        const { input } = context
        await eachSite(context, 'remove collaborators', async (tx, site, by) => {
          const member = await findMembership(tx, site.id, input.accountId ?? 0)
          if (!member) return { outcome: 'absent' }
          const { wpOperationId } = await leaveSite(tx, site, member, input.deletesWpUser ? 'oldest' : 'keep', by)
          return { outcome: 'removed', followUpId: wpOperationId }
        })
      },
      weight: 20,
    },
    mail: {
      async commit(tx: Tx, context: StepContext<DestroyInput>) {
        const results = await resultsOfOperation(tx, context.operationId)
        await mailDone(tx, context, `Finished removing ${context.input.email}`, results)
      },
    },
  },
  failed: (tx, context) => mailFailed(tx, context, `Removing ${context.input.email} stopped before the end`),
})

type Outcome = Omit<SiteResult, 'siteId' | 'followUpId'> & { followUpId?: number | undefined }

/**
 * Does the work for each site without a result, and records the result with it. Checks the caller's rights again, and
 * skips sites where they no longer suffice.
 */
async function eachSite(
  context: StepContext<{ siteIds: number[] }>,
  capability: SiteCapability,
  work: (tx: Tx, site: Site, by: By) => Promise<Outcome>,
): Promise<void> {
  const { operationId, input, signal } = context
  const { caller, request } = context.source as Source
  const done = new Set(
    (await context.transaction((tx) => resultsOfOperation(tx, operationId))).map((each) => each.siteId),
  )
  const changeSite = async (tx: Tx, siteId: number): Promise<Outcome> => {
    const site = await holdSite(tx, siteId)
    const [rights] = await sitesWithRights(tx, caller.accountId, [siteId])
    if (!site || !rights) return { outcome: 'skipped', message: 'The site was deleted' }
    const mayStill = holds(capability, rights) && holds('change many sites at once', rights)
    if (!mayStill) return { outcome: 'skipped', message: 'You no longer have the required roles' }
    const now = context.now()
    return work(tx, site, { ...changeBy(tx, { actor: { caller, request }, about: aboutSite(site), now }), now })
  }
  for (const siteId of input.siteIds) {
    if (done.has(siteId)) continue
    if (signal.aborted) throw signal.reason
    await context.transaction(async (tx) => {
      const { outcome, message = null, followUpId = null } = await changeSite(tx, siteId)
      await recordResults(tx, operationId, [{ siteId, outcome, message, followUpId }])
    })
    done.add(siteId)
    context.progress(done.size / input.siteIds.length)
  }
}

async function mailDone(
  tx: Tx,
  context: Pick<StepContext, 'source' | 'operationId' | 'now'>,
  subject: string,
  results: readonly SiteResult[],
): Promise<void> {
  const { caller } = context.source as Source
  const followUps = results.filter(({ followUpId }) => followUpId).length
  const lines = [
    `${subject}: ${summary(results)}.`,
    ...(followUps > 0 ? [`Stead updates the WordPress users of ${countOf(followUps, 'site')} in the background.`] : []),
    `See operation ${context.operationId} for each site.`,
  ]
  await mailOutcome(tx, { accountId: caller.accountId, to: caller.accountEmail, subject, lines }, context.now())
}

async function mailFailed(tx: Tx, context: FailureContext, subject: string): Promise<void> {
  const { caller } = context.source as Source
  const results = await resultsOfOperation(tx, context.operationId)
  const reason = context.canceled ? 'it was canceled' : context.error
  const lines = [
    `${subject}: ${reason}.`,
    `Completed: ${summary(results)}. These changes stay.`,
    `See operation ${context.operationId} for each site. Retry the operation to process the other sites.`,
  ]
  await mailOutcome(tx, { accountId: caller.accountId, to: caller.accountEmail, subject, lines }, context.now())
}

/** Summarizes results: `added 3, skipped 1`. */
function summary(results: readonly SiteResult[]): string {
  const byOutcome = Map.groupBy(results, ({ outcome }) => outcome)
  return [...byOutcome].map(([outcome, sites]) => `${outcome} ${countOf(sites.length, 'site')}`).join(', ') || 'nothing'
}
