/** The progress of a source, for a progress bar. `totalBytes` is null while it is unknown. */
export interface CoreProgress {
  readonly source: string
  readonly phase: 'resolving' | 'downloading' | 'verifying' | 'unpacking'
  readonly receivedBytes: number
  readonly totalBytes: number | null
}

/** The resources that a source works with. */
export interface SourceTask {
  /** A new empty folder on the file system of the core library. It is always removed afterwards. */
  readonly workDir: string
  readonly signal: AbortSignal | undefined
  readonly report: (phase: CoreProgress['phase'], receivedBytes?: number, totalBytes?: number | null) => void
}

/** A release that a source can deliver. */
export interface FoundCore {
  readonly version: string
  /** Unpacks the release, verified against its publisher's checksums, to `into`, which does not exist yet. */
  unpack(into: string): Promise<void>
}

/** A release that a source lists. */
export interface SourceOffer {
  readonly version: string
  /** The lowest PHP version that it needs, if the source reports it. */
  readonly phpVersion?: string
}

/** A place that provides WordPress. Every failure is an `Error` with a message that an operator understands. */
export interface CoreSource {
  /** The name in progress and messages: `the release API at https://…`. */
  readonly name: string
  /** Returns a text that changes whenever the source may have another latest version for a reason other than time. */
  identity(): Promise<string>
  /**
   * Finds a version, or with `latest` the newest release.
   * @throws Error when it is unavailable here
   */
  find(version: string, task: SourceTask): Promise<FoundCore>
  /** Lists the available versions, at least the newest release and the newest test version. */
  versions(task: SourceTask): Promise<SourceOffer[]>
}

/** Limits far above any WordPress release (6.8: 30 MB packed, 75 MB and 3,100 files unpacked). */
export const coreLimits = { maxEntries: 20_000, maxBytes: 400 * 2 ** 20 }
export const maxArchiveBytes = 150 * 2 ** 20
