/** Changes in this checkout according to Git, or none without Git. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

const git = (...words: string[]): string => {
  try {
    return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return ''
  }
}

export const headCommit = (): string => git('rev-parse', 'HEAD')

/**
 * The commit from which changes count: where this branch left `origin/main`; on `main` itself, the one before the
 * newest.
 */
export function changesSince(): string {
  const base = git('merge-base', 'HEAD', 'origin/main')
  if (base && base !== headCommit()) return base
  return git('rev-parse', '--verify', '--quiet', 'HEAD~1') || 'HEAD'
}

/** Paths below the root of the checkout, uncommitted ones included. */
export function changedFiles(): string[] {
  const committed = git('diff', '--name-only', changesSince())
  const untracked = git('ls-files', '--others', '--exclude-standard')
  return [...new Set(`${committed}\n${untracked}`.split('\n').filter(Boolean))]
}
