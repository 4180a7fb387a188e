import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { jobs } from '../../jobs.ts'
import { type Role, roles } from '../access/roles.ts'
import { isSiteCapability } from './change-operation.ts'

/**
 * The role that lets a collaborator cancel and retry a site's operations. Only its account may change all other types.
 */
const needed: Record<string, Role> = {
  'site.configure': 'manage_performance',
  'site.maintenance': 'manage_performance',
  'site.flush_object_cache': 'manage_performance',
  'site.make_performance_report': 'manage_performance',
  'site.move': 'update_site_php_version',
  'site.remove': 'delete_site',
  'site.purge': 'delete_site',
  'site.reset_admin_password': 'wp_access',
  'site.switch_safe_mode': 'wp_access',
  'extension_license.write': 'plugin_management_access',
  'site.update_cms_version': 'update_site_cms_version',
  'sftp.disconnect': 'sftp_access',
  'plugin.install': 'plugin_management_access',
  'plugin.update': 'plugin_management_access',
  'plugin.update_safely': 'plugin_management_access',
  'plugin.activate': 'plugin_management_access',
  'plugin.deactivate': 'plugin_management_access',
  'plugin.delete': 'plugin_management_access',
  'backup.take': 'download_backups',
  'backup.take_scheduled': 'download_backups',
  'backup.delete': 'download_backups',
  'site.restore': 'restore_site',
  'site.preview_restore': 'restore_site',
  'site.preview_sync': 'restore_site',
  'site.sync': 'restore_site',
  'import.inspect': 'restore_site',
  'import.remove': 'restore_site',
  'site.import': 'restore_site',
  'collaborator.sync_wp_user': 'create_collaborator',
  'site.update_cms_version_by_schedule': 'update_site_cms_version',
  'collaborator.reset_password': 'reset_collaborator_password',
}

/** A deletion that has begun. Canceling it would leave files that no record knows. */
const mustEnd = ['site.remove', 'site.purge', 'backup.delete']
/** The same, for an operation that belongs only to the account. */
const ofAccounts = ['mu_plugin.remove', 'backups.forget_site', 'account.remove']

/** Operations of the account that a person may pause. */
const pausable = ['host.drain', 'host.replace', 'hosts.rebalance', 'plugin.update_many_safely']

test('each definition names an existing right', () => {
  const named = [...jobs.values()].flatMap(({ changeableBy }) =>
    changeableBy === 'account' ? [] : [changeableBy.site],
  )
  expect(named).toHaveLength(Object.keys(needed).length)
  expect(named.filter((name) => !isSiteCapability(name))).toEqual([])
})

describe('permission to cancel and retry', () => {
  let api: TestApi
  let owner: Person
  let mate: Person
  let siteId: number
  beforeAll(async () => {
    api = await testApi('sqlite')
    owner = await api.person('owner@example.com')
    mate = await api.person('mate@example.com')
    siteId = await api.site(owner, 'shared')
  })
  afterAll(() => api?.close())

  const operation = async (type: string, state: 'queued' | 'failed') => {
    const input = JSON.stringify({ siteId, accountId: mate.accountId, backupId: 1, importId: 1, version: '6.8.1' })
    const values = {
      ...({ type, state, runner: 'control', site_id: siteId, account_id: owner.accountId, input } as const),
      ...({ attempts: 0, cancel_requested: 0, progress: 0 } as const),
      ...{ run_at: 1e15, created_at: 1, finished_at: state === 'failed' ? 2 : null },
    }
    const { id } = await api.database.transaction((tx) =>
      tx.insertInto('operations').values(values).returning('id').executeTakeFirstOrThrow(),
    )
    return id
  }
  const actionsOf = async (id: number) => (await mate.call('GET', `/v1/operations/${id}`)).body.data.actions
  /** Returns the answers to a cancel and a retry by a collaborator with these roles. */
  const asked = async (type: string, held: readonly Role[]) => {
    await api.collaborate(mate, siteId, held)
    const [queued, failed] = [await operation(type, 'queued'), await operation(type, 'failed')]
    const said = [await actionsOf(queued), await actionsOf(failed)]
    const pause = pausable.includes(type) && (await mate.call('POST', `/v1/operations/${queued}/pause`))
    const cancel = await mate.call('POST', `/v1/operations/${queued}/cancel`)
    const retry = await mate.call('POST', `/v1/operations/${failed}/retry`)
    // The list predicts the answers.
    const all = { ...(pause && { pause }), cancel, retry }
    const answers = Object.entries(all).map(([action, { status, body }]) => {
      return { action, allowed: status === 200, reason: status === 200 ? null : body.errors[0] }
    })
    const offered = answers.filter(({ action }) => action !== 'cancel' || ![...mustEnd, ...ofAccounts].includes(type))
    expect(said.flat()).toEqual(offered)
    return [cancel, retry].map(({ status, body }) => [status, body.errors?.[0]])
  }

  test('does not offer cancel or retry for an operation that rolls back, and refuses both', async () => {
    const id = await operation('backup.take', 'queued')
    await api.database.transaction((tx) =>
      tx.updateTable('operations').set({ ending: 'failed' }).where('id', '=', id).execute(),
    )
    const read = await owner.call('GET', `/v1/operations/${id}`)
    expect(read.body.data.actions).toEqual([])
    for (const change of ['cancel', 'retry'])
      expect((await owner.call('POST', `/v1/operations/${id}/${change}`)).status).toBe(400)
  })

  test.each([...jobs.keys()])('%s', async (type) => {
    const role = needed[type]
    if (role) {
      const cancel = mustEnd.includes(type)
        ? [400, `Operations of type ${type} cannot be canceled, because their effect is final.`]
        : [200, undefined]
      expect(await asked(type, [role])).toEqual([cancel, [200, undefined]])
      const others = await asked(
        type,
        roles.filter((each) => each !== role),
      )
      const text = `You need the role ${role} on this site for this operation.`
      expect(others).toEqual([
        [403, text],
        [403, text],
      ])
    } else {
      const text = 'Only the account that owns this operation can change it.'
      expect(await asked(type, roles)).toEqual([
        [403, text],
        [403, text],
      ])
    }
  })

  test('lets only its account change an operation of an unknown type', async () => {
    const [cancel] = await asked('site.of_another_version', roles)
    expect(cancel).toEqual([403, 'Only the account that owns this operation can change it.'])
  })
})
