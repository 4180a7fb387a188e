import { freshLine } from '../../platform/terminal/fresh-line.ts'
import type { Operation } from '../../sdk/index.ts'
import { harmless, type Terminal } from './show.ts'

const BAR_WIDTH = 24

/**
 * Shows an operation step by step: one line for each finished step, and on a terminal a bar for the whole below them.
 */
export function operationProgress(terminal: Terminal): { show(operation: Operation): void; end(): void } {
  const said = new Set<string>()
  const say = (line: string) => {
    if (said.has(line)) return
    said.add(line)
    terminal.write(`${freshLine(terminal as { isTTY?: boolean })}${harmless(line)}\n`)
  }
  return {
    show({ steps, progress, state, error, attempts, pausedAt }) {
      for (const { name, state, startedAt, finishedAt, warning } of steps) {
        if (state === 'running' && !terminal.isTTY) say(`  ${name} …`)
        if (state === 'succeeded') say(`✓ ${name}${took(startedAt, finishedAt)}${warning ? `: ${warning}` : ''}`)
        if (state === 'failed') say(`✗ ${name}`)
      }
      if (state === 'queued' && error) say(`! attempt ${attempts} failed, retrying: ${error}`)
      if (pausedAt) say(`! paused since ${pausedAt}`)
      if (!terminal.isTTY) return
      const step = steps.find(({ state }) => state === 'running')
      const done = Math.round((progress / 100) * BAR_WIDTH)
      const left = step?.secondsLeft ? `about ${step.secondsLeft} s left` : ''
      const parts = [
        `[${'#'.repeat(done)}${'.'.repeat(BAR_WIDTH - done)}]`,
        `${progress}%`,
        pausedAt ? 'paused' : (step?.name ?? state),
        left,
      ]
      const text = harmless(parts.filter(Boolean).join('  '))
      // A wrapped line cannot be overwritten.
      terminal.write(`${freshLine({ isTTY: true })}${text.slice(0, (terminal.columns || 80) - 1)}`)
    },
    end() {
      if (terminal.isTTY) terminal.write(freshLine({ isTTY: true }))
    },
  }
}

function took(from: string | null, to: string | null): string {
  if (!from || !to) return ''
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000
  return ` (${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s)`
}
