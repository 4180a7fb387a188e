import { constants } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { edgeProcesses } from '../start/free-port.ts'
import { type Check, type CheckContext, type Finding, ok, problem, warning } from './check.ts'

/** An edge opens files of its cache, and up to 1,024 connections per visitor. */
const ENOUGH_FILES = 16_384
const MB = 1 << 20
/** The memory of Stead itself, without sites. */
const OWN_MB = 400

/** Compares the limits of the system with the needs of the settings. */
export const limitsCheck: Check = {
  area: 'limits',
  async run(context) {
    const found = (await Promise.all([openFiles(), memory(context), cgroup(context)])).flat()
    return found.length > 0 ? found : [ok('The limits of the system are high enough.')]
  },
}

/** Checks the hard limit, because Node raises the soft limit to it. */
async function openFiles(): Promise<Finding[]> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const hard = /^Max open files\s+\S+\s+(\d+)/m.exec(limits)?.[1]
  if (hard === undefined || Number(hard) >= ENOUGH_FILES) return []
  return [
    warning(
      `A process can open ${hard} files. ${ENOUGH_FILES} are recommended.`,
      'Raise the limit with LimitNOFILE=65536 in systemd, or with ulimit -n.',
    ),
  ]
}

async function memory({ config }: CheckContext): Promise<Finding[]> {
  const total = totalmem() / MB
  const wanted = config.phpMemoryMb + edgeProcesses(config) * config.edgeCacheMb + OWN_MB
  if (wanted <= total) return []
  const text = `PHP and the edge may use ${Math.round(wanted)} MB of memory, but the server has ${Math.round(total)} MB.`
  return [warning(text, 'Lower STEAD_PHP_MEMORY_MB or STEAD_EDGE_CACHE_MB.')]
}

async function cgroup({ config }: CheckContext): Promise<Finding[]> {
  if (config.cgroup === undefined) return []
  const file = join(config.cgroup, 'cgroup.subtree_control')
  const cannot = await access(file, constants.W_OK).then(
    () => false,
    () => true,
  )
  if (!cannot) return []
  return [
    problem(
      `Stead cannot write to the cgroup ${config.cgroup} (STEAD_CGROUP).`,
      'Delegate a cgroup to Stead with Delegate=yes in systemd.',
    ),
  ]
}
