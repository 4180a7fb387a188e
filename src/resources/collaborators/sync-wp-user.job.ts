import Type from 'typebox'
import { oneOf } from '../../platform/http/schemas.ts'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import { type Account, findAccount } from '../account/public.ts'
import { aboutSite, changeOfJob, type Starting } from '../kit/change.ts'
import type { HostServices } from '../kit/host-services.ts'
import { findSite, isInstalled, runSiteTask, type Site } from '../sites/public.ts'
import { actions } from './actions.ts'
import { findMembership, setWpUsername } from './collaborator.store.ts'
import { hasWpAccess } from './collaborator.ts'

const reassignments = ['keep', 'next', 'oldest'] as const

/**
 * How to treat the WordPress user of an account without `wp_access`: keep it, or delete it and give its posts to the
 * next available or the oldest administrator.
 */
export type Reassignment = (typeof reassignments)[number]

const Input = Type.Object({ siteId: Type.Integer(), accountId: Type.Integer(), reassign: oneOf(reassignments) })
type Input = Type.Static<typeof Input>
type Context = StepContext<Input, HostServices>

/**
 * Matches an account's user in a site's WordPress to its collaboration at the time that this runs: an administrator
 * with its address, or none. So repeated runs and changes in between do no harm.
 */
export const syncWpUser = durableWith<HostServices>()({
  name: 'collaborator.sync_wp_user',
  input: Input,
  on: 'host',
  changeableBy: { site: 'add collaborators' },
  // About ten minutes, so that a host that is short of memory for PHP, or a machine that restarts, leaves no user
  // behind.
  attempts: 8,
  steps: {
    user: { run: syncUser },
    record: {
      async commit(tx, { input, results }) {
        const { login } = results.user
        if (login) await setWpUsername(tx, input.siteId, input.accountId, login)
      },
    },
  },

  async failed(tx, context) {
    const { input, error, canceled } = context
    const site = await findSite(tx, input.siteId)
    if (canceled || !site) return
    const person = await findAccount(tx, input.accountId)
    const message = `WordPress user of ${person?.email}: ${error}`
    await changeOfJob(tx, context).record({ action: actions['collaborator.wordpress_user_failed'], message })
  },
})

/** @returns `undefined` for a site that is not installed yet, which creates its users when it goes live */
export async function startWpUser(
  change: Starting,
  site: Site,
  accountId: number,
  reassign: Reassignment,
): Promise<number | undefined> {
  if (!isInstalled(site)) return undefined
  return change.start(syncWpUser, { siteId: site.id, accountId, reassign }, { about: aboutSite(site) })
}

async function syncUser(context: Context): Promise<{ login?: string; deleted?: boolean }> {
  const { services, input } = context
  const { read } = services.database
  const [site, account] = [await findSite(read, input.siteId), await findAccount(read, input.accountId)]
  // Deleted, so there is nothing left to update.
  if (!site || !account) return {}
  const member = await findMembership(read, site.id, account.id)
  if (member && hasWpAccess(member.roles))
    return { login: await ensureAdministrator(services, site, account, member.wpUsername) }
  if (input.reassign === 'keep') return {}
  return { deleted: await deleteAdministrator(services, site, account, input.reassign) }
}

/**
 * Creates an administrator with the account's address, or makes the user with that address one.
 * @param wanted login of a new user, unless it is taken
 * @returns its login
 */
async function ensureAdministrator(
  services: HostServices,
  site: Site,
  account: Account,
  wanted: string,
): Promise<string> {
  const input = { email: account.email, name: account.name, login: wanted }
  const { login } = await runSiteTask(services, site.id, 'ensure-administrator', input, { background: true })
  return login
}

/** @returns whether there was one. Never deletes the administrator that the site was created with */
async function deleteAdministrator(
  services: HostServices,
  site: Site,
  { email }: Account,
  reassign: 'next' | 'oldest',
): Promise<boolean> {
  const keep = { login: site.adminUsername, email: site.adminEmail.toLowerCase() }
  const input = { email, reassign, keep }
  const { deleted } = await runSiteTask(services, site.id, 'delete-user', input, { background: true })
  return deleted
}
