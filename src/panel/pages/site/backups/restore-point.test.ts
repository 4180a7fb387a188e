import { expect, test } from 'vitest'
import { type Detailed, restorePoints } from './restore-point.ts'

let id = 0
function backup(type: 'fs' | 'db', time: string, details: Partial<Detailed['details']> = {}): Detailed {
  const all = { origin: 'scheduled', createdBy: null, bytes: 10, deleteAt: '2026-03-01T00:00:00.000Z', damage: null }
  return {
    ...{ id: String(++id), site_id: 1, type, title: '', backup_timestamp: '' },
    formatted_timestamp: `2026-02-01T${time}:00.000Z`,
    details: { ...(all as Detailed['details']), ...details },
  }
}
const shown = (files: readonly Detailed[], databases: readonly Detailed[]) =>
  restorePoints(files, databases).map(({ taken, backups }) => [
    taken.slice(11, 16),
    Object.keys(backups).toSorted().join(),
  ])

test('pairs files with the nearest database of the same origin, within 15 minutes', () => {
  const databases = ['05:00', '04:20', '04:10', '03:00'].map((time) => backup('db', time))
  expect(shown([backup('fs', '04:12')], databases)).toEqual([
    ['05:00', 'db'],
    ['04:20', 'db'],
    ['04:10', 'db,fs'],
    ['03:00', 'db'],
  ])
  expect(shown([backup('fs', '04:36')], [backup('db', '04:20')])).toEqual([
    ['04:36', 'fs'],
    ['04:20', 'db'],
  ])
  expect(shown([backup('fs', '04:12')], [backup('db', '04:12', { origin: 'undo' })])).toHaveLength(2)
})

test('pairs a database with only one backup of files', () => {
  expect(shown([backup('fs', '04:12'), backup('fs', '04:10')], [backup('db', '04:11')])).toEqual([
    ['04:11', 'db,fs'],
    ['04:10', 'fs'],
  ])
})

test('adds up the sizes of a pair, takes the earlier expiry, and reports all damage', () => {
  const files = backup('fs', '04:12', { bytes: 5, damage: 'a file', deleteAt: '2026-02-20T00:00:00.000Z' })
  const [point] = restorePoints([files], [backup('db', '04:12', { damage: 'a table' })])
  expect(point).toMatchObject({ bytes: 15, deleteAt: '2026-02-20T00:00:00.000Z', damage: ['a file', 'a table'] })
})
