import { setTimeout as pause } from 'node:timers/promises'
import type { Ground } from '../ground.ts'
import { type Harm, parts } from './harm.ts'

/** Kills one process with `kill -9`. The supervisor restarts it. */
export const killPart = (part: (typeof parts)[number], share: number): Harm => ({
  name: `kill -9 ${part}`,
  share,
  kills: 1,
  async run(ground) {
    const found = ground.stead.role(part)
    if (found) kill(found.pid)
  },
})

/** Kills one site's PHP with `kill -9` while it serves, installs, or runs scheduled events. */
export const killPhp: Harm = {
  name: 'kill -9 php',
  share: 18,
  kills: 1,
  async run(ground, chance) {
    const running = ground.stead.phpProcesses()
    if (running.length > 0) kill(chance.pick(running).pid)
  },
}

/**
 * Kills the supervisor with `kill -9` and starts Stead again. Every other time, a process is killed during that start.
 */
export const killSupervisor: Harm = {
  name: 'kill -9 supervisor',
  share: 5,
  kills: 1,
  async run(ground, chance) {
    ground.seen.push(...ground.stead.processes())
    ground.stead.kill('supervisor')
    await Promise.all([
      ground.stead.start(),
      chance.is(0.5) && killOneSoon(ground, chance.between(500, 4000), chance.pick(parts)),
    ])
  },
}

/** A power cut: everything ends between two instructions. */
export const killAll: Harm = {
  name: 'kill -9 of all at once',
  share: 3,
  kills: 1,
  async run(ground) {
    const all = ground.stead.processes()
    ground.seen.push(...all)
    ground.stead.kill('supervisor')
    for (const { pid } of all) kill(pid)
    await ground.stead.start()
  },
}

async function killOneSoon(ground: Ground, afterMs: number, part: (typeof parts)[number]): Promise<void> {
  await pause(afterMs)
  const found = ground.stead.role(part)
  if (found) kill(found.pid)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has already ended
  }
}
