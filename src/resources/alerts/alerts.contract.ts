import { expect } from 'vitest'
import type { Contract, JobSample, ProblemCase } from '../../../test/support/contract.ts'
import { change, daysAgo, forgets } from '../../../test/support/job-worlds.ts'
import { at, type Example, type Examples, type Sample, type Scene } from '../../../test/support/samples.ts'
import { write } from '../../../test/support/scenes.ts'
import type { Tx } from '../../platform/db/database.ts'
import { insertChat } from './chat/chat.store.ts'
import { MOST_CHATS } from './chat/chat.ts'
import { insertMute } from './mute.store.ts'
import { MOST_MUTES } from './mute.ts'
import { raiseAlert } from './raise-alert.ts'
import { spreadAlerts } from './tell/spread-alerts.ts'

const muteOf = (accountId: number) => ({ account_id: accountId, site_id: null, kind: 'site_down', until: null })

const muted: NonNullable<Sample['prepare']> = (world, api) =>
  api.database.transaction(async (tx) => {
    await tx.deleteFrom('alert_mutes').execute()
    await tx
      .insertInto('alert_mutes')
      .values({ ...muteOf(world.owner.accountId), id: 1_000_000, created_at: 1 })
      .execute()
  })

const room = () => ({ url: 'https://chat.example.com/hooks/secret' })
const chatRow = { url_sealed: '', host: 'chat.example.com', description: '', next_at: 0, created_at: 1 }

const chatting: NonNullable<Sample['prepare']> = (world, api) =>
  api.database.transaction(async (tx) => {
    await tx.deleteFrom('alert_chats').execute()
    await tx
      .insertInto('alert_chats')
      .values({ ...chatRow, id: 1_000_000, account_id: world.owner.accountId })
      .execute()
  })

const samples: readonly Sample[] = [
  { endpoint: 'listAlerts', path: at('/v1/alerts') },
  { endpoint: 'markAlertsRead', path: at('/v1/alerts/read'), body: () => ({ up_to: 0 }) },
  { endpoint: 'getAlertSettings', path: at('/v1/alerts/settings') },
  { endpoint: 'updateAlertSettings', path: at('/v1/alerts/settings'), body: () => ({ mail: ['site_down'] }) },
  { endpoint: 'listAlertMutes', path: at('/v1/alerts/mutes') },
  { endpoint: 'createAlertMute', path: at('/v1/alerts/mutes'), body: () => ({ kind: 'site_down' }) },
  { endpoint: 'listAlertChats', path: at('/v1/alerts/chats') },
  { endpoint: 'createAlertChat', path: at('/v1/alerts/chats'), body: room },
  { endpoint: 'testAlertChat', path: at('/v1/alerts/chats/1000000/test'), isPrivate: true, prepare: chatting },
  { endpoint: 'deleteAlertChat', path: at('/v1/alerts/chats/1000000'), isPrivate: true, prepare: chatting },
  { endpoint: 'deleteAlertMute', path: at('/v1/alerts/mutes/1000000'), isPrivate: true, prepare: muted },
]

const withChat = (scene: Scene, count = 1) =>
  write(scene, async (tx) => {
    const draft = { urlSealed: '', host: 'chat.example.com', description: '', kinds: null }
    for (let each = 1; each < count; each++) await insertChat(tx, scene.owner.accountId, draft, 1)
    return insertChat(tx, scene.owner.accountId, draft, 1)
  })

const withMute = (scene: Scene, count = 1) =>
  write(scene, async (tx) => {
    const mute = { siteId: scene.siteId, kind: null, until: null, now: 1 }
    for (let each = 1; each < count; each++) await insertMute(tx, scene.owner.accountId, mute)
    return insertMute(tx, scene.owner.accountId, mute)
  })

/** With an alert that is not read yet. */
const unread = async (scene: Scene): Promise<Example> => {
  await write(scene, (tx) => raiseAlert(tx, { kind: 'site_down', siteId: scene.siteId, detail: 'It is down' }, 1))
  return { body: { up_to: Number.MAX_SAFE_INTEGER } }
}

const examples: Examples = {
  listAlerts: async () => ({}),
  markAlertsRead: unread,
  updateAlertSettings: async () => ({ body: { mail: [], bell: ['site_down'], mail_shared_sites: true } }),
  createAlertMute: async ({ siteId }) => ({ body: { site_id: siteId, until: '2999-01-01T00:00:00Z' } }),
  createAlertChat: async () => ({ body: room() }),
  testAlertChat: async (scene) => ({ params: { id: (await withChat(scene)).id } }),
  deleteAlertChat: async (scene) => ({ params: { id: (await withChat(scene)).id } }),
  deleteAlertMute: async (scene) => ({ params: { id: (await withMute(scene)).id } }),
}

const problems: readonly ProblemCase[] = [
  { of: ['createAlertChat'], code: 'chat_limit_reached', prepare: (scene) => withChat(scene, MOST_CHATS) },
  { of: ['createAlertMute'], code: 'mute_limit_reached', prepare: (scene) => withMute(scene, MOST_MUTES) },
]

/** A message about a site that the account does not see. */
async function insertNoticeForNobody(tx: Tx, accountId: number): Promise<void> {
  const draft = { urlSealed: '', host: 'chat.example.com', description: '', kinds: null }
  const { id } = await insertChat(tx, accountId, draft, 1)
  const alert = {
    site_id: 1_000_000,
    kind: 'site_down',
    subject: String(id),
    detail: '',
    began_at: 1,
    is_new: 0,
  } as const
  const { id: alertId } = await tx.insertInto('alerts').values(alert).returning('id').executeTakeFirstOrThrow()
  const notice = { alert_id: alertId, account_id: accountId, chat_id: id, event: 'began' } as const
  await tx
    .insertInto('alert_notices')
    .values({ ...notice, due_at: 1 })
    .execute()
}

/** Tests that see the events. */
const conditions = 'src/resources/alerts/judge/judge-alerts.test.ts'
const causes: Contract['causes'] = {
  certificate_expiring: { cause: 'certificates.plan', seenIn: 'src/resources/certificates/certificates.test.ts' },
  platform_certificate_expiring: {
    cause: 'certificates.plan',
    seenIn: 'src/resources/certificates/certificates.test.ts',
  },
  alert_resolved: { cause: 'certificates.plan', seenIn: 'src/resources/certificates/certificates.test.ts' },
  domain_elsewhere: { cause: 'domains.check', seenIn: 'src/resources/domains/check-domains.test.ts' },
  backup_failed: { cause: 'backup.take_scheduled', seenIn: 'src/resources/backups/schedule/scheduled-backups.test.ts' },
  backup_proof_failed: { cause: 'backup.prove', seenIn: 'src/resources/backups/schedule/prove-backups.test.ts' },
  update_undone: { cause: 'plugin.update', seenIn: 'src/resources/plugins/plugins.test.ts' },
  site_disk_filling: { cause: 'alerts.judge', seenIn: conditions },
  site_disk_full: { cause: 'alerts.judge', seenIn: conditions },
  php_errors: { cause: 'alerts.judge', seenIn: conditions },
  mail_bouncing: { cause: 'alerts.judge', seenIn: conditions },
  host_silent: { cause: 'alerts.judge', seenIn: conditions },
  host_disk_filling: { cause: 'alerts.judge', seenIn: conditions },
  host_disk_full: { cause: 'alerts.judge', seenIn: conditions },
  platform_alert_resolved: { cause: 'alerts.judge', seenIn: conditions },
}

const jobs: Record<string, JobSample> = {
  'alerts.tell': {
    async prepare(world) {
      await change(world, async (tx) => {
        await raiseAlert(tx, { kind: 'site_down', siteId: world.site, detail: 'It is down' }, 1)
        // An hour ago, so that the mail waits no longer.
        await spreadAlerts(tx, Date.now() - 3_600_000)
      })
      return { input: {} }
    },
    async done({ api, owner }) {
      const mails = await api.database.read
        .selectFrom('operations')
        .select('input')
        .where('type', '=', 'mail.send')
        .execute()
      expect(mails.filter(({ input }) => JSON.parse(input).to === owner.email)).toHaveLength(1)
    },
  },
  // `send-chats.test.ts` has a chat program.
  'alerts.chat': {
    async prepare(world) {
      await change(world, (tx) => insertNoticeForNobody(tx, world.owner.accountId))
      return { input: {} }
    },
    async done({ api, owner }) {
      const rows = api.database.read.selectFrom('alert_notices').selectAll()
      expect(await rows.where('account_id', '=', owner.accountId).execute()).toEqual([])
    },
  },
  'alerts.judge': {
    async prepare(world) {
      await change(world, async (tx) => {
        await raiseAlert(tx, { kind: 'update_undone', siteId: world.site, subject: 'forms', detail: 'It failed' }, 1)
      })
      return { input: {} }
    },
    async done({ api, site }) {
      const alerts = api.database.read.selectFrom('alerts').select('id').where('site_id', '=', site)
      expect(await alerts.where('ended_at', 'is', null).execute()).toEqual([])
    },
  },
  'alerts.forget': forgets(
    daysAgo(80),
    (world, ended) =>
      change(world, (tx) =>
        tx
          .insertInto('alerts')
          .values({
            ...{ site_id: world.site, kind: 'site_down', subject: '', detail: '' },
            ...{ began_at: 1, ended_at: ended, is_new: 0 },
          })
          .execute(),
      ),
    async ({ api, site }) => {
      const alerts = api.database.read.selectFrom('alerts').select('ended_at as at').where('site_id', '=', site)
      return (await alerts.execute()).map(({ at: ended }) => ({ at: ended as number }))
    },
  ),
}

const unrecorded = { markAlertsRead: 'it changes only what one person has read' }

export const contract: Contract = { samples, examples, problems, unrecorded, causes, jobs }
