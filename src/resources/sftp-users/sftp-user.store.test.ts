import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { raiseIds } from '../../platform/db/sequences.ts'
import { insertSftpUser } from './sftp-user.store.ts'

describe.each(dialects)('an SFTP user on $dialect', ({ dialect, skip }) => {
  if (skip) return void it.skip('no server', () => {})
  let made: TestDatabase
  beforeAll(async () => {
    made = await testDatabase(dialect)
  })
  afterAll(() => made.drop())

  const give = (site: { id: number; name: string }, accountId: number) =>
    made.database.transaction((tx) => insertSftpUser(tx, { site, accountId, now: 1000 }))
  const all = () => made.database.read.selectFrom('sftp_users').select(['id', 'username']).orderBy('id').execute()

  it('is named after its site and its number: the first, after a deletion, and after numbers were raised', async () => {
    await give({ id: 7, name: 'shop' }, 1)
    await give({ id: 8, name: 'shop' }, 1)
    const [first, second] = await all()
    expect(first?.username).toBe(`shop_${first?.id}`)
    await made.database.transaction((tx) => tx.deleteFrom('sftp_users').where('id', '=', Number(second?.id)).execute())
    await give({ id: 9, name: 'blog' }, 1)
    const third = (await all()).at(-1)
    expect(third?.id).toBeGreaterThan(Number(second?.id))
    expect(third?.username).toBe(`blog_${third?.id}`)
    await made.database.transaction((tx) => raiseIds(tx, 'sftp_users', 500))
    await give({ id: 10, name: 'blog' }, 1)
    expect((await all()).at(-1)).toEqual({ id: 501, username: 'blog_501' })
  })

  it('exists once for a site and account, unchanged, also after two simultaneous grants', async () => {
    await Promise.all([give({ id: 20, name: 'once' }, 2), give({ id: 20, name: 'once' }, 2)])
    const before = await all()
    await give({ id: 20, name: 'renamed' }, 2)
    expect(await all()).toEqual(before)
    expect(before.filter(({ username }) => username.startsWith('once_'))).toHaveLength(1)
  })
})
