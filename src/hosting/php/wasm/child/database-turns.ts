import type { UserSpace, UserSpaceParts } from './loader.ts'

/** A command's turn at the site's database. Between turns, the process that serves the site's visitors uses it. */
export interface DatabaseTurns {
  /** Resolves when nothing else of the site has the database open. */
  take(): Promise<void>
  giveBack(wrote: boolean): void
}

/** A range of bytes of a file, without the end. */
interface Range {
  readonly start: number
  readonly end: number
}

/**
 * Makes SQLite's file locks real. php-wasm only pretends that each succeeds, and two processes would lose each other's
 * rows. A process has the turn as long as it holds any lock. So a transaction is one turn, and so is a statement
 * outside one.
 */
export function lockByTurns(turns: DatabaseTurns, parts: UserSpaceParts): UserSpace {
  const { constants, memory, syscalls, wasmImports } = parts
  const held = new Map<string, Range[]>()
  let hasTurn = false
  let wrote = false

  const endTurn = () => {
    if (!hasTurn || held.size > 0) return
    hasTurn = false
    turns.giveBack(wrote)
    wrote = false
  }
  const release = (path: string, range: Range) => {
    const left = (held.get(path) ?? []).flatMap((each) => without(each, range))
    if (left.length > 0) held.set(path, left)
    else held.delete(path)
    endTurn()
  }
  const lock = async (path: string, range: Range, isToWrite: boolean) => {
    if (!hasTurn) await turns.take()
    hasTurn = true
    wrote ||= isToWrite
    held.set(path, [...(held.get(path) ?? []).flatMap((each) => without(each, range)), range])
    return 0
  }
  return {
    fcntl64(fd, command, varargs) {
      if (command !== constants.F_SETLK && command !== constants.F_SETLKW)
        return wasmImports.builtin_fcntl64(fd, command, varargs)
      // struct flock of musl: type, whence, start, length.
      const flock = memory.HEAP32.get(varargs >> 2)
      const type = memory.HEAP16.get(flock >> 1)
      const start = Number(memory.HEAP64.get((flock + 8) >> 3))
      const length = Number(memory.HEAP64.get((flock + 16) >> 3))
      const { path } = syscalls.getStreamFromFD(fd)
      const range = { start, end: length === 0 ? Infinity : start + length }
      if (type !== constants.F_UNLCK) return lock(path, range, type === constants.F_WRLCK)
      release(path, range)
      return 0
    },
    flock: () => 0,
    fd_close: (fd) => wasmImports.builtin_fd_close(fd),
    js_release_file_locks() {
      held.clear()
      endTurn()
    },
  }
}

function without({ start, end }: Range, gone: Range): Range[] {
  const before = { start, end: Math.min(end, gone.start) }
  const after = { start: Math.max(start, gone.end), end }
  return [before, after].filter((each) => each.start < each.end)
}
