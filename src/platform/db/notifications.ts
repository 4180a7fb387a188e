import { closeSync, constants, type FSWatcher, mkdirSync, openSync, watch, writeSync } from 'node:fs'
import { join } from 'node:path'

/** What is told again and again is told at once, and then so often. */
const TELL_EVERY_MS = 2

/** Notifications between processes on one machine, by subject. One may be lost: whoever listens looks by himself, too. */
export interface Notifications {
  write(subject: string): void
  /** Calls back soon after each notice; once for several. The first call for a subject counts. */
  follow(subject: string, callback: () => void): void
  close(): void
}

/**
 * A file for each subject: a byte is written to it, and the kernel tells who watches it. Written after a commit, it wakes those whom
 * it concerns, and once. (The log of SQLite is written some time before a commit can be read, and by every commit: all processes looked
 * for each several times.)
 */
export function openNotifications(folder: string): Notifications {
  const files = new Map<string, number>()
  const watchers = new Map<string, { close(): void }>()
  const opened = (subject: string): number => {
    const known = files.get(subject)
    if (known !== undefined) return known
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const file = openSync(join(folder, subject), constants.O_RDWR | constants.O_CREAT, 0o600)
    files.set(subject, file)
    return file
  }
  return {
    write(subject) {
      try {
        writeSync(opened(subject), '!', 0)
      } catch {
        // a full disk, or no file that may be opened: it is a lost notice
      }
    },
    follow(subject, callback) {
      if (watchers.has(subject)) return
      try {
        opened(subject)
        watchers.set(subject, watchFile(join(folder, subject), callback))
      } catch {
        // no inotify left: all its notices are lost
      }
    },
    close() {
      for (const watcher of watchers.values()) watcher.close()
      for (const file of files.values()) closeSync(file)
      files.clear()
    },
  }
}

function watchFile(path: string, callback: () => void): { close(): void } {
  const calm = atMostEvery(TELL_EVERY_MS, callback)
  const watcher: FSWatcher = watch(path, { persistent: false }, calm.call)
  watcher.on('error', () => watcher.close())
  return {
    close() {
      watcher.close()
      calm.close()
    },
  }
}

/** Calls at once, and then not before some time is over: once, whatever came meanwhile. */
export function atMostEvery(ms: number, callback: () => void): { call(): void; close(): void } {
  let timer: NodeJS.Timeout | undefined
  let isAgain = false
  const rest = () => {
    timer = setTimeout(() => {
      timer = undefined
      if (!isAgain) return
      isAgain = false
      rest()
      callback()
    }, ms)
    timer.unref()
  }
  return {
    call() {
      if (timer) {
        isAgain = true
        return
      }
      rest()
      callback()
    },
    close: () => clearTimeout(timer),
  }
}
