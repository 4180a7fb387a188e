import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { markDeleted } from '../site.store.ts'
import { tellOfRecovery } from './recovery-mail.ts'

const HOUR_MS = 3_600_000

describe.each(dialects.filter(({ skip }) => !skip))('a link to recovery mode, on $dialect', ({ dialect }) => {
  let api: TestApi
  let owner: Person
  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  afterAll(() => api.close())

  const broken = async (name: string) => {
    const site = await api.site(owner, name)
    const values = { host_name: `${name}.test`, site_id: site, changed_at: 1 }
    await api.database.transaction((tx) => tx.insertInto('routes').values(values).execute())
    return site
  }
  const tell = (site: number, host: string, now: number) => {
    const url = `http://${host}:8081/wp-login.php?action=enter_recovery_mode&rm_token=T0k&rm_key=k3Y`
    return api.database.transaction((tx) => tellOfRecovery(tx, site, { url, cause: 'plugins/broken' }, now))
  }
  const mails = async (name: string) => {
    const rows = api.database.read.selectFrom('operations').select('input').where('type', '=', 'mail.send')
    return (await rows.orderBy('id').execute())
      .map(({ input }) => JSON.parse(input) as { to: string; subject: string; text: string; html: string })
      .filter(({ subject }) => subject.startsWith(`${name}:`))
  }

  test('goes to the owner of the site, once an hour, and the log gives the reason', async () => {
    const site = await broken('broken-site')
    await tell(site, 'broken-site.test', 10 * HOUR_MS)
    await tell(site, 'broken-site.test', 11 * HOUR_MS)
    const [mail, ...more] = await mails('broken-site')
    expect([mail?.to, more]).toEqual(['owner@example.com', []])
    const link = 'http://broken-site.test:8081/wp-login.php?action=enter_recovery_mode&rm_token=T0k&rm_key=k3Y'
    expect(mail?.text).toContain(link)
    expect(mail?.html).toContain(`href="${link.replaceAll('&', '&amp;')}"`)
    for (const way of ['turn on safe mode', `/#/sites/${site}/overview`]) expect(mail?.text).toContain(way)
    const entries = api.database.read.selectFrom('activity').select('message').where('site_id', '=', site)
    expect(
      (await entries.where('action', '=', 'wordpress.recovery_mode').execute()).map((each) => each.message),
    ).toEqual([
      'Pages fail with a fatal error in wp-content/plugins/broken. Stead sent the owner a link to recovery mode',
    ])
    await tell(site, 'broken-site.test', 11 * HOUR_MS + 1)
    expect(await mails('broken-site')).toHaveLength(2)
  })

  test('is not sent if it leads to another host than the site’s, or if the site is deleted', async () => {
    const site = await broken('other-site')
    await broken('third-site')
    for (const host of ['phishing.test', 'third-site.test']) await tell(site, host, HOUR_MS)
    expect(await mails('other-site')).toEqual([])
    await api.database.transaction((tx) => markDeleted(tx, site, 1))
    await tell(site, 'other-site.test', HOUR_MS)
    expect(await mails('other-site')).toEqual([])
  })
})
