import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { testDatabase } from '../../../test/support/database.ts'
import { announce } from './database.ts'
import { openSqlite } from './node-sqlite.ts'
import { atMostEvery, openNotifications } from './notifications.ts'
import { sqliteChanges } from './sqlite-changes.ts'

describe('notifications', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stead-notices-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  test('reach the followers of their subject, and no others', async () => {
    const [writer, reader] = [openNotifications(folder), openNotifications(folder)]
    const heard: string[] = []
    const last = new Promise<void>((resolve) => {
      reader.follow('routes', () => heard.push('routes'))
      reader.follow('purges', () => {
        heard.push('purges')
        resolve()
      })
    })
    writer.write('zones')
    writer.write('purges')
    await last
    expect(heard).toEqual(['purges'])
    writer.close()
    reader.close()
  })

  test('report a commit by the topics that it has announced', async () => {
    const made = await testDatabase('sqlite')
    const notices = openNotifications(`${made.connection.file}-notices`)
    const heard: string[] = []
    const told = new Promise<void>((resolve) => notices.follow('purges', resolve))
    notices.follow('routes', () => heard.push('routes'))
    await made.database.transaction((tx) => announce(tx, 'purges'))
    await told
    expect(heard).toEqual([])
    notices.close()
    await made.drop()
  })

  test('are lost without harm if they cannot be written or followed', async () => {
    await writeFile(join(folder, 'a file'), '')
    const nowhere = openNotifications(join(folder, 'a file/notices'))
    nowhere.write('routes')
    nowhere.follow('routes', () => {})
    nowhere.close()
  })

  test('report a commit without an announcement for every topic', async () => {
    const file = join(folder, 'some.db')
    const writer = openSqlite({ file, readOnly: false })
    writer.exec('create table things (id integer)')
    const reader = openSqlite({ file, readOnly: true })
    const changes = sqliteChanges(file, reader)
    const heard = Promise.all(
      (['routes', 'purges'] as const).map((topic) => new Promise<void>((resolve) => changes.subscribe(topic, resolve))),
    )
    writer.exec('insert into things values (1)')
    await heard
    changes.close()
    reader.close()
    writer.close()
  })
})

describe('a throttled call', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('runs at once, and does not lose the last of many calls', () => {
    let told = 0
    const calm = atMostEvery(5, () => void told++)
    calm.call()
    expect(told).toBe(1)
    for (let n = 0; n < 10; n++) calm.call()
    expect(told).toBe(1)
    vi.advanceTimersByTime(5)
    expect(told).toBe(2)
    vi.advanceTimersByTime(50)
    expect(told).toBe(2)
    calm.call()
    expect(told).toBe(3)
    expect(vi.getTimerCount()).toBe(1)
    calm.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('keeps running while calls continue, and stops after the end', () => {
    let told = 0
    const calm = atMostEvery(5, () => void told++)
    for (let ms = 0; ms < 50; ms++) {
      calm.call()
      vi.advanceTimersByTime(1)
    }
    expect(told).toBe(11)
    calm.close()
    vi.advanceTimersByTime(50)
    expect(told).toBe(11)
  })
})
