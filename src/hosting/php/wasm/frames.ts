import type { Readable } from 'node:stream'

/**
 * What parent and child say to each other, one job at a time: five bytes (length of the payload as 32 bits big endian, kind),
 * then the payload. HTTP/1.1 was tried in the plan and given up: PHP blocks the child's event loop, so that nothing of a
 * page would leave it before the page is finished; frames can be written to the descriptor while PHP runs.
 */
export type FrameKind = (typeof Frame)[keyof typeof Frame]

export const Frame = {
  /** parent: `ChildStart`; child: ready, `ChildReady` */
  start: 1,
  /** parent: `RequestHead` */
  request: 2,
  /** either side: bytes of a body */
  data: 3,
  /** parent: the request's body is complete; child: `ResponseEnd`, the process is free again */
  end: 4,
  /** parent: `TaskHead`; its result comes back as the body of the response */
  task: 5,
  /** child: `ResponseHead` */
  head: 6,
  /** child: what the site says to the host while it works, as text; comes before whatever it prints after */
  note: 7,
  /** child: `PhpMemory`, PHP's memory has grown; may come at any time */
  memory: 8,
  /** parent: `DiskRoom`, what its site takes on the disk by now; never while a job runs */
  room: 9,
  /** child: what the site asks the host while it works, as text; PHP waits for the answer */
  ask: 10,
  /** parent: the answer, as text */
  answer: 11,
  /** parent: `CommandHead`, where the child was started for one; what it prints comes back as the body of the response */
  command: 12,
  /** child: what a command writes to its standard error */
  errors: 13,
  /** child: a command needs the site's database; PHP waits for the answer */
  needTurn: 14,
  /** parent: it has it */
  turn: 15,
  /** child: it gives it back, `TurnEnd` */
  turnEnd: 16,
  /** parent: asks what V8 has made of PHP by now; it comes back as the body of a response */
  code: 17,
} as const

/** A payload may not be longer: bodies are cut, and a head that long is a fault or an attack. */
export const mostFrameBytes = 1 << 20

export const frameHeaderBytes = 5

/** One frame as bytes; objects become JSON. */
export function encodeFrame(kind: FrameKind, payload: Uint8Array | object | undefined): Buffer {
  const bytes =
    payload === undefined
      ? Buffer.alloc(0)
      : payload instanceof Uint8Array
        ? payload
        : Buffer.from(JSON.stringify(payload))
  const frame = Buffer.allocUnsafe(frameHeaderBytes + bytes.length)
  writeFrameHeader(frame, kind, bytes.length)
  frame.set(bytes, frameHeaderBytes)
  return frame
}

/** Writes the first five bytes of a frame into `target`. */
export function writeFrameHeader(target: Buffer, kind: FrameKind, length: number): void {
  target.writeUInt32BE(length, 0)
  target[4] = kind
}

/**
 * Calls `onFrame` for every frame that arrives. Payloads of data frames are handed on as they come, in pieces, without
 * being joined; all other payloads are whole.
 * @throws (inside the stream's data event, reported to `onFault`) when a frame is longer than allowed.
 */
export function readFrames(
  stream: Readable,
  onFrame: (kind: number, payload: Buffer) => void,
  onFault: (error: Error) => void,
): void {
  let gathered: Buffer | undefined
  let kind = 0
  let missing = -1
  let header: Buffer = Buffer.alloc(0)

  const take = (chunk: Buffer): void => {
    let rest = chunk
    while (rest.length > 0 || missing === 0) {
      if (missing < 0) {
        header = header.length > 0 ? Buffer.concat([header, rest]) : rest
        if (header.length < frameHeaderBytes) return
        missing = header.readUInt32BE(0)
        kind = header[4] as number
        rest = header.subarray(frameHeaderBytes)
        header = Buffer.alloc(0)
        if (missing > mostFrameBytes) throw new Error(`a frame of ${missing} bytes`)
      }
      const piece = rest.subarray(0, missing)
      rest = rest.subarray(piece.length)
      missing -= piece.length
      if (kind === Frame.data) {
        if (piece.length > 0) onFrame(kind, piece)
        if (missing === 0) missing = -1
        continue
      }
      if (gathered || missing > 0) {
        // Gathered in one place: kept as they come, a megabyte in pieces of a byte would be several hundred.
        gathered ??= Buffer.allocUnsafe(piece.length + missing)
        gathered.set(piece, gathered.length - missing - piece.length)
      }
      if (missing > 0) continue
      const payload = gathered ?? piece
      gathered = undefined
      missing = -1
      onFrame(kind, payload)
    }
  }
  stream.on('data', (chunk: Buffer) => {
    try {
      take(chunk)
    } catch (error) {
      stream.destroy()
      onFault(error as Error)
    }
  })
}

/** Where a folder of this machine (or of the sandbox) appears to PHP. */
export interface Mount {
  readonly at: string
  readonly from: string
}

/** What a site takes on the disk, and may take. */
export interface DiskRoom {
  readonly usedBytes: number
  /** Files and folders. */
  readonly usedFiles: number
  readonly quotaBytes: number
  readonly quotaFiles: number
  /** So much more for the site's database: signing in and deleting writes there. */
  readonly databaseBytes: number
  /** Nothing is written while the disk has less free. */
  readonly keepFreeBytes: number
}

/** The first thing that a child is told. */
export interface ChildStart {
  /** Path of the compiled PHP's JavaScript module. */
  readonly phpModule: string
  /** User and group id that the process takes on before any PHP runs. */
  readonly uid: number | null
  /** What V8 made of PHP in another process: a file below the program's folder; null: there is none. */
  readonly codeFile: string | null
  /** Exports of the compiled PHP that its JavaScript calls; null: all of them are taken. */
  readonly calledExports: readonly string[] | null
  readonly mounts: readonly Mount[]
  /** Of this machine (or of the sandbox): nothing in them changes as long as the process lives. */
  readonly fixedFolders: readonly string[]
  /** PHP files of Stead by name, put into PHP's memory file system under /stead. */
  readonly programs: Readonly<Record<string, string>>
  /** The same of files that are no text, in base64. */
  readonly morePrograms: Readonly<Record<string, string>>
  readonly ini: Readonly<Record<string, string>>
  /** What PHP's own memory may come to, whatever its settings say. */
  readonly mostPhpBytes: number
  readonly address: string
  /** Null: as much as there is. */
  readonly disk: DiskRoom | null
  /** It is for one command, whose standard input is the process' own; null: for requests. */
  readonly command: CommandStart | null
  /** Watch the parent's end of the channel from a thread: needed where no sandbox ends the child with its parent. */
  readonly watchParent: boolean
}

/** What a process is given that runs one command, and no requests. */
export interface CommandStart {
  readonly environment: Readonly<Record<string, string>>
}

export interface CommandHead {
  /** Of PHP's own command line. */
  readonly args: readonly string[]
}

export interface TurnEnd {
  /** Something in the database may be another than before. */
  readonly wrote: boolean
}

export interface PhpMemory {
  /** All that PHP has asked for, used or not. */
  readonly bytes: number
}

export interface ChildReady {
  readonly phpVersion: string
  readonly residentBytes: number
  /** It uses what V8 made of PHP in another process. */
  readonly hasMachineCode: boolean
}

export interface RequestHead {
  readonly method: string
  /** Raw path and query as the visitor sent them. */
  readonly path: string
  /** Instead of the one in `path`. */
  readonly query?: string | undefined
  /** Absolute path of the PHP file inside. */
  readonly script: string
  /** Name, value, name, value, … */
  readonly headers: readonly string[]
  readonly remoteAddress: string
  readonly https: boolean
  readonly host: string
  readonly bodyBytes: number
}

export interface TaskHead {
  readonly name: string
  readonly input: unknown
  readonly marker: string
  /** Without the site's plugins and theme. */
  readonly isSafe?: boolean
  /** The site's address from now on; only with the task that takes a site over. */
  readonly address?: string
}

export interface ResponseHead {
  readonly status: number
  readonly headers: readonly string[]
}

export interface ResponseEnd {
  /** PHP's exit code; 255 after a fatal error. */
  readonly exitCode: number
  readonly residentBytes: number
  /** The process should be replaced when it is idle. */
  readonly worn: boolean
  /** Something could not be written: the site's quota was reached, or the disk is nearly full. */
  readonly diskRefusal?: 'quota' | 'disk' | undefined
}
