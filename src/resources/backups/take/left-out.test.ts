import { execFileSync } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { hostJobs } from '../../../jobs.ts'
import { ended, startWorker } from '../../../platform/operations/harness.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import { describeLeftOut, LeftOutCount } from './left-out.ts'
import { takeBackup } from './take-backup.ts'

test('names the first ones and counts the others', () => {
  const found = new LeftOutCount()
  expect(describeLeftOut(found)).toBeUndefined()
  found.add({ path: 'a\n', why: 'kind' })
  expect(describeLeftOut(found)).toBe(String.raw`Not in the backup: "a\n" (not a file, folder or link)`)
  for (let at = 0; at < 1000; at++) found.add({ path: 'b'.repeat(4000), why: 'link' })
  expect(describeLeftOut(found)).toMatch(/^.{100,1000}, and 998 more$/)
  expect([found.count, found.first.length, found.first.at(-1)?.path.length]).toEqual([1001, 20, 200])
})

describe('a backup of files', () => {
  let api: TestApi
  let owner: Person
  let host: FakeHost
  let worker: Worker
  let site: number
  beforeAll(async () => {
    api = await testApi('sqlite')
    owner = await api.person('owner@example.com')
    site = await api.site(owner, 'odd')
    host = await fakeHost(api)
    const web = join(await host.giveDirectory(site), 'web')
    await mkdir(join(web, 'odd'))
    await symlink('/etc/passwd', join(web, 'odd/link'))
    execFileSync('mkfifo', [join(web, 'odd/fifo')])
    worker = startWorker(api.database, hostJobs, {
      ...{ runner: 'host', hostId: host.hostId, services: host.services, lookEveryMs: 20 },
    })
  })
  afterAll(async () => {
    await worker?.stop(5000)
    await host.close()
    await api.close()
  })

  test('says in its operation that something is missing, and one of a database does not', async () => {
    const warnings = async (backup_type: string) => {
      const ordered = await owner.call('POST', `/v1/sites/${site}/ondemand-backups`, { backup_type })
      const id = Number(ordered.headers['operation-id'])
      expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded', error: null })
      const { body } = await owner.call('GET', `/v1/operations/${id}`)
      return body.data.steps.flatMap(({ warning }: { warning: string | null }) => warning ?? [])
    }
    expect(await warnings('fs')).toEqual([
      'Not in the backup: "odd/fifo" (not a file, folder or link), "odd/link" (a link that may point outside the site)',
    ])
    expect(await warnings('db')).toEqual([])
  })

  test('says so again if it was already complete', async () => {
    const take = () =>
      takeBackup(host.services, { siteId: site, name: 'b1-twice', kind: 'fs', signal: new AbortController().signal })
    expect((await take()).leftOut?.count).toBe(2)
    expect(await take()).toMatchObject({ leftOut: { count: 2 }, warning: expect.stringContaining('odd/fifo') })
  })
})
