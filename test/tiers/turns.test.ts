import { globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startFirst } from './start-first.ts'
import { leftToOtherTurns, MOST_CHANGED, thisTurn } from './turns.ts'

const faults = ['test/faults/*.test.ts']
const all = globSync(faults, { cwd: join(import.meta.dirname, '../..') })

test('every file has exactly one turn', () => {
  expect(all.length).toBeGreaterThan(10)
  for (const turns of [2, 3]) {
    const runs = Array.from({ length: turns }, (_, turn) => {
      const left = leftToOtherTurns(faults, { turns, turn }, [])
      return all.filter((file) => !left.includes(file))
    })
    expect(runs.flat().toSorted()).toEqual(all.toSorted())
    const counts = runs.map((files) => files.length)
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
  }
})

test('long files are split evenly', () => {
  const long = leftToOtherTurns(faults, { turns: 2, turn: 0 }, []).filter((file) => startFirst.includes(file))
  const other = leftToOtherTurns(faults, { turns: 2, turn: 1 }, []).filter((file) => startFirst.includes(file))
  expect(Math.abs(long.length - other.length)).toBeLessThanOrEqual(1)
})

test('a changed file runs in every turn', () => {
  const changed = all.slice(0, 2)
  for (const turn of [0, 1]) {
    const left = leftToOtherTurns(faults, { turns: 2, turn }, changed)
    expect(left.filter((file) => changed.includes(file))).toEqual([])
    expect(left.length).toBeGreaterThan(0)
  }
})

test('many changed files wait for their turns', () => {
  const changed = all.slice(0, MOST_CHANGED + 1)
  const left = leftToOtherTurns(faults, { turns: 2, turn: 0 }, changed)
  expect(left).toEqual(leftToOtherTurns(faults, { turns: 2, turn: 0 }, []))
})

test('without turns all files run; the commit decides the turn', () => {
  expect(leftToOtherTurns(faults, thisTurn('', 'a'), [])).toEqual([])
  const taken = ['a', 'b', 'c', 'd', 'e', 'f'].map((commit) => thisTurn('2', commit).turn)
  expect(new Set(taken)).toEqual(new Set([0, 1]))
  expect(thisTurn('2', 'a')).toEqual(thisTurn('2', 'a'))
  const eight = [0, 1, 2, 3, 4, 5, 6, 7].map((after) => thisTurn('8', 'a', after).turn)
  expect(eight.toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  for (const wrong of ['0', '1.5', 'two', '9']) expect(() => thisTurn(wrong, 'a')).toThrow('TEST_TURNS')
})
