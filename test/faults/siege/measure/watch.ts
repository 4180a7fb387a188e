import { readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { RunningProcess } from '../../../support/processes.ts'
import type { Stead } from '../../../support/stead.ts'
import { type bounds, killSwitchMb } from '../bounds.ts'
import type { SiegeGround } from '../ground.ts'

export type Part = keyof typeof bounds.memoryMb

/** The highest memory of each role, and the least free space. */
export interface Watch {
  readonly peakMb: Readonly<Record<Part, number>>
  readonly leastFreeMb: number
  readonly largestTotalMb: number
  /** Includes deleted temporary files that are still open. 0 if they are not on a disk of their own. */
  readonly peakTemporaryMb: number
  /** Resolves when more is in use than this machine should give, and never otherwise. */
  readonly tooMuch: Promise<string>
  stop(): void
}

const EVERY_MS = 1000

export function watch({ stead, disk, temporary }: Pick<SiegeGround, 'stead' | 'disk' | 'temporary'>): Watch {
  const peakMb: Record<Part, number> = { supervisor: 0, control: 0, host: 0, edge: 0, php: 0 }
  const tooMuch = Promise.withResolvers<string>()
  const figures = { leastFreeMb: Number.POSITIVE_INFINITY, largestTotalMb: 0, peakTemporaryMb: 0 }
  const look = async () => {
    const now = sizesOf(stead)
    for (const part of Object.keys(now) as Part[]) peakMb[part] = Math.max(peakMb[part], now[part])
    const total = Object.values(now).reduce((sum, each) => sum + each, 0)
    figures.largestTotalMb = Math.max(figures.largestTotalMb, total)
    if (total > killSwitchMb) tooMuch.resolve(`all processes together took ${Math.round(total)} MB: the run was ended`)
    const { bavail, bsize } = await statfs(disk)
    figures.leastFreeMb = Math.min(figures.leastFreeMb, (bavail * bsize) / 2 ** 20)
    if (temporary.isBounded) {
      const { blocks, bfree, bsize: size } = await statfs(temporary.folder)
      figures.peakTemporaryMb = Math.max(figures.peakTemporaryMb, ((blocks - bfree) * size) / 2 ** 20)
    }
  }
  const timer = setInterval(() => look().catch(() => {}), EVERY_MS)
  return {
    peakMb,
    get leastFreeMb() {
      return figures.leastFreeMb
    },
    get peakTemporaryMb() {
      return figures.peakTemporaryMb
    },
    get largestTotalMb() {
      return figures.largestTotalMb
    },
    tooMuch: tooMuch.promise,
    stop: () => clearInterval(timer),
  }
}

/** MB by role; for several edges, the largest. */
function sizesOf(stead: Stead): Record<Part, number> {
  const sizes: Record<Part, number> = { supervisor: 0, control: 0, host: 0, edge: 0, php: 0 }
  const supervisor = stead.role('supervisor')
  if (supervisor) sizes.supervisor = pssMb(supervisor.pid)
  for (const process of stead.processes()) {
    const part = partOf(process)
    if (part === 'edge') sizes.edge = Math.max(sizes.edge, pssMb(process.pid))
    else sizes[part] += pssMb(process.pid)
  }
  return sizes
}

/** Everything else belongs to a site: PHP, its sandbox, and the processes that they start. */
function partOf({ words }: RunningProcess): Part {
  const isPart = words.some((word) => /\/main\.(ts|js)$/.test(word)) && !words.at(-1)?.endsWith('/child/main.js')
  if (!isPart) return 'php'
  return (['control', 'host', 'edge'] as const).find((part) => words.includes(part)) ?? 'supervisor'
}

/** Own pages, and a share of those in common with others. */
function pssMb(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024
  } catch {
    return 0 // it has ended
  }
}
