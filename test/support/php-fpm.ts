/** A php-fpm for one test without a sandbox, to compare Stead's behavior with the real one. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { phpVersions } from '../../src/hosting/php/runtime.ts'

/** Debian's path for a version. */
const program = phpVersions.map((version) => `/usr/sbin/php-fpm${version}`).find(existsSync)

export const hasPhpFpm = program !== undefined

export interface TestFpm {
  readonly socket: string
  /** Writes a script. @returns its path */
  script(name: string, code: string): Promise<string>
  stop(): Promise<void>
}

export async function startFpm(): Promise<TestFpm> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-fpm-'))
  await chmod(folder, 0o755)
  const socket = join(folder, 'socket')
  const user = process.getuid?.() === 0 ? ['user = nobody', 'group = nogroup'] : []
  const lines = ['[global]', 'error_log = /dev/null', '[www]', ...user, `listen = ${socket}`, 'listen.mode = 0666']
  const pool = ['pm = ondemand', 'pm.max_children = 4', 'php_admin_value[post_max_size] = 64M']
  await writeFile(join(folder, 'conf'), [...lines, ...pool, ''].join('\n'))
  const args = ['-n', '-F', '-O', '-y', join(folder, 'conf')]
  const master = spawn(program as string, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  for await (const text of master.stderr.iterator({ destroyOnReturn: false })) {
    said += text
    if (said.includes('ready to handle connections')) break
  }
  if (!said.includes('ready to handle connections')) throw new Error(`php-fpm did not start: ${said}`)
  master.stderr.resume()
  return {
    socket,
    async script(name, code) {
      await writeFile(join(folder, name), `<?php ${code}`)
      return join(folder, name)
    },
    async stop() {
      const gone = once(master, 'exit')
      master.kill('SIGTERM')
      await gone
      await rm(folder, { recursive: true, force: true })
    },
  }
}
