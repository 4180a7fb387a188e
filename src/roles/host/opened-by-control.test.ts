import { expect, test } from 'vitest'
import { portableKeys, repositoryKeys } from '../../backups/format/keys.ts'
import { keysFromControl } from './opened-by-control.ts'

const key = Buffer.alloc(32, 5)
function control() {
  const asked: string[] = []
  let isAway = false
  const ask = async (_what: string, { owner }: { owner?: string }) => {
    asked.push(owner ?? '')
    if (isAway) throw new Error('away')
    return { mark: 'mark', keys: portableKeys(key, owner as string) }
  }
  return {
    ...{ asked, keys: keysFromControl({ ask }) },
    setAway(away: boolean) {
      isAway = away
    },
  }
}

test('keys of a repository are asked for once, also by several operations at the same time', async () => {
  const { keys, asked } = control()
  const [one, two] = await Promise.all([keys.ofRepository('site-1'), keys.ofRepository('site-1')])
  expect(one).toBe(two)
  expect(one.keys.naming.export()).toEqual(repositoryKeys(key, 'site-1').naming.export())
  await keys.ofRepository('site-2')
  expect(asked).toEqual(['site-1', 'site-2'])
})

test('a failure is not kept', async () => {
  const { keys, asked, setAway } = control()
  setAway(true)
  await expect(keys.ofRepository('site-1')).rejects.toThrow('away')
  setAway(false)
  expect(await keys.ofRepository('site-1')).toHaveProperty('mark', 'mark')
  expect(asked).toEqual(['site-1', 'site-1'])
})

test('the keys of the last 1,000 repositories are kept', async () => {
  const { keys, asked } = control()
  for (let site = 1; site <= 1_000; site++) await keys.ofRepository(`site-${site}`)
  await keys.ofRepository('site-1')
  await keys.ofRepository('site-1001')
  expect(asked).toHaveLength(1_001)
  await keys.ofRepository('site-1')
  expect(asked).toHaveLength(1_001)
  await keys.ofRepository('site-2')
  expect(asked).toHaveLength(1_002)
})

test('incomplete keys are refused', async () => {
  const ask = async () => ({ mark: 'mark', keys: { sealing: 'short' } })
  await expect(keysFromControl({ ask }).ofRepository('site-1')).rejects.toThrow('Upgrade the control')
})
