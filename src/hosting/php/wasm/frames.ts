import type { Readable } from 'node:stream'

/**
 * The messages between parent and child, one job at a time: five bytes (length of the payload as 32 bits big endian,
 * kind), then the payload. HTTP/1.1 was tried and rejected: PHP blocks the child's event loop, so nothing of a page
 * would leave before the page is finished. Frames can be written to the descriptor while PHP runs.
 */
export type FrameKind = (typeof Frame)[keyof typeof Frame]

export const Frame = {
  /** parent: `ChildStart`; child: ready, `ChildReady` */
  start: 1,
  /** parent: `RequestHead` */
  request: 2,
  /** both: bytes of a body */
  data: 3,
  /** parent: the request's body is complete; child: `ResponseEnd`, the process is free again */
  end: 4,
  /** parent: `TaskHead`; the result returns as the body of the response */
  task: 5,
  /** child: `ResponseHead` */
  head: 6,
  /** child: a text message from the site to the host during its work; sent before anything that it prints later */
  note: 7,
  /** child: `PhpMemory`, PHP's memory has grown; sent at any time */
  memory: 8,
  /** parent: `DiskRoom`, the disk space that its site uses now; never sent while a job runs */
  room: 9,
  /** child: a text question from the site to the host during its work; PHP waits for the answer */
  ask: 10,
  /** parent: the answer, as text */
  answer: 11,
  /** parent: `CommandHead`, if the child was started for a command; its output returns as the body of the response */
  command: 12,
  /** child: the standard error of a command */
  errors: 13,
  /** child: a command needs the site's database; PHP waits for the answer */
  needTurn: 14,
  /** parent: the command has the database */
  turn: 15,
  /** child: the command returns the database, `TurnEnd` */
  turnEnd: 16,
  /** parent: requests the machine code that V8 has generated so far; it returns as the body of a response */
  code: 17,
} as const

/** A payload must not be longer. Bodies are split, and a head of that length is a fault or an attack. */
export const mostFrameBytes = 1 << 20

export const frameHeaderBytes = 5

/** Encodes one frame. Objects become JSON. */
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
 * Calls `onFrame` for every frame that arrives. Payloads of data frames are passed on in pieces as they arrive, without
 * joining them. All other payloads are whole.
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
        // Gathered in one buffer. Kept as they arrive, a megabyte in one-byte pieces would take several hundred.
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

/** The disk space that a site uses, and may use. */
export interface DiskRoom {
  readonly usedBytes: number
  /** The number of files and folders. */
  readonly usedFiles: number
  readonly quotaBytes: number
  readonly quotaFiles: number
  /** Extra bytes for the site's database, because signing in and deleting write to it. */
  readonly databaseBytes: number
  /** Nothing is written while the disk has less free space than this. */
  readonly keepFreeBytes: number
}

/** The first message to a child. */
export interface ChildStart {
  /** The path of the compiled PHP's JavaScript module. */
  readonly phpModule: string
  /** The user and group ID that the process takes on before any PHP runs. */
  readonly uid: number | null
  /**
   * Stored machine code of PHP from another process, as a file below the program's folder, or null if there is none.
   */
  readonly codeFile: string | null
  /** The exports of the compiled PHP that its JavaScript calls, or null to take all. */
  readonly calledExports: readonly string[] | null
  readonly mounts: readonly Mount[]
  /** Folders of this machine (or of the sandbox) that never change while the process lives. */
  readonly fixedFolders: readonly string[]
  /** Stead's PHP files by name, put into PHP's memory file system under /stead. */
  readonly programs: Readonly<Record<string, string>>
  /** The same for files that are not text, in base64. */
  readonly morePrograms: Readonly<Record<string, string>>
  readonly ini: Readonly<Record<string, string>>
  /** The most memory for PHP itself, whatever its settings say. */
  readonly mostPhpBytes: number
  readonly address: string
  /** Null for no limit. */
  readonly disk: DiskRoom | null
  /** Set if the child is for one command, whose standard input is the process' own; null for requests. */
  readonly command: CommandStart | null
  /** Whether a thread watches the parent's end of the channel. Needed if no sandbox ends the child with its parent. */
  readonly watchParent: boolean
}

/** The start options of a process that runs one command, and no requests. */
export interface CommandStart {
  readonly environment: Readonly<Record<string, string>>
}

export interface CommandHead {
  /** The arguments of PHP's own command line. */
  readonly args: readonly string[]
}

export interface TurnEnd {
  /** Whether something in the database may have changed. */
  readonly wrote: boolean
}

export interface PhpMemory {
  /** All memory that PHP has requested, used or not. */
  readonly bytes: number
}

export interface ChildReady {
  readonly phpVersion: string
  readonly residentBytes: number
  /** Whether it uses machine code of PHP from another process. */
  readonly hasMachineCode: boolean
}

export interface RequestHead {
  readonly method: string
  /** The raw path and query as the visitor sent them. */
  readonly path: string
  /** Replaces the query in `path`. */
  readonly query?: string | undefined
  /** The absolute path of the PHP file inside. */
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
  /** Whether to run without the site's plugins and theme. */
  readonly isSafe?: boolean
  /** The site's new address. Only with the task that takes over a site. */
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
  /** Whether the process should be replaced when it is idle. */
  readonly worn: boolean
  /** Why something could not be written: the site's quota was reached, or the disk is nearly full. */
  readonly diskRefusal?: 'quota' | 'disk' | undefined
}
