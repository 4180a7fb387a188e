/**
 * The tiers `wordpress` and `system` in turns. With TEST_TURNS=8, a run takes an eighth of their files. The hash of the
 * commit decides which. TEST_TURN=1 takes the eighth after it. `.ci/run` runs as many of them as it has time for, because
 * everything takes an hour of two processors. Without TEST_TURNS, all files run.
 */
import { createHash } from 'node:crypto'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { changedFiles, headCommit } from '../support/changes.ts'
import { startFirst } from './start-first.ts'

const root = join(import.meta.dirname, '../..')
/** With more turns, a file would wait so long that the change that broke it would be hard to find. */
const MOST_TURNS = 8
/**
 * Up to this many changed files run in the first turn of each commit. If more have changed, the turn applies to them, too.
 * Otherwise, a large change would run everything.
 */
export const MOST_CHANGED = 8

export interface Turn {
  /** The number of turns. */
  readonly turns: number
  /** The turn of this run, from 0. */
  readonly turn: number
}

/**
 * Returns the turn of this run. The commit decides, so that a second run of it takes the same files.
 * @param after the number of turns that this commit has had (TEST_TURN)
 */
export function thisTurn(
  wanted = process.env.TEST_TURNS,
  commit = headCommit(),
  after = Number(process.env.TEST_TURN || 0),
): Turn {
  const turns = Number(wanted || 1)
  if (!Number.isInteger(turns) || turns < 1 || turns > MOST_TURNS)
    throw new Error(`TEST_TURNS must be a whole number from 1 to ${MOST_TURNS}, not "${wanted}"`)
  return { turns, turn: (createHash('sha256').update(commit).digest().readUInt32BE(0) + after) % turns }
}

const rank = (file: string): number => {
  const found = startFirst.indexOf(file)
  return found === -1 ? startFirst.length : found
}

/**
 * Returns the files that wait for another turn. Splits long files first, so that each turn has as many of them.
 * @param patterns of files, below the root of the checkout
 * @param changed files that run in every first turn of a commit, unless they are too many
 */
export function leftToOtherTurns(
  patterns: readonly string[],
  { turns, turn }: Turn = thisTurn(),
  changed: readonly string[] = turns > 1 && !Number(process.env.TEST_TURN) ? changedFiles() : [],
): readonly string[] {
  const dealt = globSync(patterns, { cwd: root }).toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
  const touched = dealt.filter((file) => changed.includes(file))
  const always = touched.length > MOST_CHANGED ? [] : touched
  return dealt.filter((file, at) => at % turns !== turn && !always.includes(file))
}
