import { closeSync, constants, type FSWatcher, mkdirSync, openSync, watch, writeSync } from 'node:fs'
import { join } from 'node:path'

/** The throttle: the first at once, then one per interval. */
const TELL_EVERY_MS = 2

/** Notifications between processes on one machine, by subject. One may be lost, so every listener also polls. */
export interface Notifications {
  write(subject: string): void
  /** Calls back soon after each notification, and once for several. Only the first call for a subject has an effect. */
  follow(subject: string, callback: () => void): void
  close(): void
}

/**
 * Opens a file for each subject. A writer writes a byte to it, and the kernel notifies the watchers. Written after a
 * commit, it wakes only those that it concerns, and only once. (SQLite's log is written some time before a commit can
 * be read, and by every commit, so all processes looked several times for each.)
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
        // The disk is full, or the file cannot be opened: this notification is lost.
      }
    },
    follow(subject, callback) {
      if (watchers.has(subject)) return
      try {
        opened(subject)
        watchers.set(subject, watchFile(join(folder, subject), callback))
      } catch {
        // The system has no inotify watch left, so all notifications of the subject are lost.
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

/** Throttles a callback: runs it at once, and then once per interval, however many calls came in the meantime. */
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
