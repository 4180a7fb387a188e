import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const launcher = join(import.meta.dirname, '../../bin/stead.js')

/** For tests: runs the real launcher with no other settings, as a shell would. @param line words, separated by spaces */
export function launch(
  line: string,
  environment: Record<string, string>,
): Promise<{ code: number; out: string; error: string }> {
  return new Promise((resolve) => {
    const { PATH = '' } = process.env
    const child = execFile(
      process.execPath,
      [launcher, ...line.split(' ')],
      { cwd: tmpdir(), env: { PATH, ...environment }, maxBuffer: 1 << 24 },
      (_error, out, error) => resolve({ code: child.exitCode ?? -1, out, error }),
    )
  })
}
