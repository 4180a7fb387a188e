import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'

const PIECE_CHARACTERS = 64 << 10

/** A file that is written as one JSON value per line. */
export interface Lines extends AsyncDisposable {
  write(line: object): Promise<void>
  /** Writes everything to the disk. */
  close(): Promise<void>
}

/** Creates a new file, and overwrites an existing one of that name. */
export async function openLines(file: string): Promise<Lines> {
  const handle = await open(file, 'w', 0o600)
  let text = ''
  let isOpen = true
  const flush = async () => {
    const piece = text
    text = ''
    await handle.writeFile(piece)
  }
  return {
    async write(line) {
      text += `${JSON.stringify(line)}\n`
      if (text.length > PIECE_CHARACTERS) await flush()
    },
    async close() {
      if (!isOpen) return
      isOpen = false
      try {
        await flush()
        await handle.sync()
      } finally {
        await handle.close()
      }
    },
    async [Symbol.asyncDispose]() {
      if (isOpen) await handle.close()
      isOpen = false
    },
  }
}

/** Reads the lines that `openLines` wrote. */
export async function* readJsonLines<Line>(file: string): AsyncGenerator<Line> {
  const stream = createReadStream(file)
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }))
      yield JSON.parse(line) as Line
  } finally {
    stream.destroy()
  }
}
