import type { Call } from '../cli/command.ts'
import { type SettingKey, testSettingsInForce } from '../config.ts'
import type { Unlock } from '../platform/files/lock-file.ts'
import { OperatorError } from '../platform/operator-error.ts'
import { everySoOften, livingBar, type Progress } from '../platform/terminal/progress-bar.ts'
import { standardOutput } from '../platform/terminal/standard-output.ts'
import type { HostReport } from './host/reports.ts'
import { OwnHost } from './own-host.ts'
import type { ProcessContext, RunningRole } from './process-context.ts'
import { openProcessContext, whileStarting } from './process-context.ts'
import type { PartStates } from './readiness.ts'
import { giveBackAfterStart } from './start/after-start.ts'
import { dnsProcesses, edgeProcesses, holdPorts } from './start/free-port.ts'
import { CUT_OFF, onOrder, onStopSignals } from './stop-signals.ts'

/** The time for a role to finish its current work. */
const STOP_MS = 25_000

/** Runs `stead control|host|edge|dns`: one role as a separate process. */
export async function runPart(call: Call<unknown, SettingKey>): Promise<number | undefined> {
  const { command, config } = call
  // Not as the child of a supervisor, which is one of the processes.
  const processes = { edge: edgeProcesses, dns: dnsProcesses }
  if ((command === 'edge' || command === 'dns') && !process.send && processes[command](config) > 1) {
    const { runSeveral } = await import('./supervisor.ts')
    return runSeveral(call, command)
  }
  let unlock: Unlock | undefined
  const ending = untilStopped(() => unlock?.())
  if (process.send && command !== 'host') unlock = await holdPorts(config.dataDir)
  const context = await openProcessContext(config, command)
  const tests = testSettingsInForce(config)
  if (tests.length > 0) context.log.warn({ settings: tests }, 'test settings are on, never use them in production')
  process.on('uncaughtException', (error) => {
    context.log.fatal({ err: error }, 'unexpected error')
    process.exit(1)
  })
  // With the error of a start that waited for the database.
  context.untilBack?.catch((error) => {
    context.log.fatal(error instanceof OperatorError ? error.message : { err: error })
    process.exit(error instanceof OperatorError ? error.exitCode : 1)
  })
  const part = await start[command as keyof typeof start](context).catch((error) => {
    throw whileStarting(error, config)
  })
  // If the supervisor has died in the meantime, the message is lost. The end of its pipe ends this process.
  if (process.connected) process.send?.({ ready: true }, undefined, undefined, () => {})
  part.fault?.then((fault) => {
    context.log.fatal(fault.message)
    process.exit(fault.exitCode)
  })
  ending.of(context, part)
  giveBackAfterStart()
  return undefined
}

const start = {
  async control(context: ProcessContext): Promise<RunningRole> {
    const { startControl } = await import('./control.ts')
    let parts: PartStates = {}
    const ownHost = new OwnHost()
    process.on('message', (message: WordsToControl) => {
      if (message.parts) parts = message.parts
      if (message.host) ownHost.hear(message.host)
    })
    return startControl(context, () => parts, ownHost)
  },
  async host(context: ProcessContext): Promise<RunningRole> {
    const { startHost } = await import('./host.ts')
    // Only one process draws: the supervisor, if there is one.
    const { show, done } = process.send ? ofSupervisor : livingBar(standardOutput)
    const hasSupervisor = process.send !== undefined
    return startHost(context, {
      ...{ onProgress: everySoOften(show), onPrepared: done, hasEdge: hasSupervisor },
      ...(hasSupervisor && { onReport: ofSupervisor.report }),
    })
  },
  async edge(context: ProcessContext): Promise<RunningRole> {
    const { startEdge } = await import('./edge.ts')
    return startEdge(context)
  },
  async dns(context: ProcessContext): Promise<RunningRole> {
    const { startDns } = await import('./dns.ts')
    return startDns(context)
  },
}

/**
 * The messages of a host to its supervisor: the progress of a first start, and its state, which goes to the control.
 */
export interface WordsOfHost {
  readonly progress?: Progress
  readonly host?: HostReport
}

/** The messages of a supervisor to the control. */
export interface WordsToControl {
  readonly parts?: PartStates
  readonly host?: HostReport
}

const ofSupervisor = {
  show: (progress: Progress) => tellSupervisor({ progress }),
  done() {},
  report: (host: HostReport) => tellSupervisor({ host }),
}

function tellSupervisor(words: WordsOfHost): void {
  if (process.connected) process.send?.(words, undefined, undefined, () => {})
}

/** Listens from the beginning. A process that must stop while it starts has no work in progress, and ends at once. */
function untilStopped(listensNoMore: () => void) {
  let running: { context: ProcessContext; part: RunningRole } | undefined
  let stopping = false
  const stop = (reason: string) => {
    if (stopping) return
    stopping = true
    if (!running) process.exit(0)
    end(running.context, running.part, reason)
    // A role releases its ports first.
    listensNoMore()
  }
  if (process.send) onOrder(stop)
  else onStopSignals(stop, () => process.exit(CUT_OFF))
  return {
    of(context: ProcessContext, part: RunningRole) {
      running = { context, part }
    },
  }
}

async function end({ log, database, logs }: ProcessContext, part: RunningRole, reason: string): Promise<void> {
  log.info({ reason }, 'stopping')
  setTimeout(() => process.exit(1), STOP_MS).unref()
  try {
    await part.stop()
    await logs.close()
    await database.close()
    process.exit(0)
  } catch (error) {
    log.error({ err: error }, 'stopping failed')
    process.exit(1)
  }
}
