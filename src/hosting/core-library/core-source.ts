/** What a source is doing, for a progress bar. `totalBytes` is null while it is not known. */
export interface CoreProgress {
  readonly source: string
  readonly phase: 'resolving' | 'downloading' | 'verifying' | 'unpacking'
  readonly receivedBytes: number
  readonly totalBytes: number | null
}

/** What a source gets to work with. */
export interface SourceTask {
  /** A new empty folder on the file system of the core library; removed afterwards, whatever happens. */
  readonly workDir: string
  readonly signal: AbortSignal | undefined
  readonly report: (phase: CoreProgress['phase'], receivedBytes?: number, totalBytes?: number | null) => void
}

/** A release that a source can deliver. */
export interface FoundCore {
  readonly version: string
  /** Makes the release, checked against what its publisher says about it, the content of `into`, which does not exist yet. */
  unpack(into: string): Promise<void>
}

/** A release that a source tells of. */
export interface SourceOffer {
  readonly version: string
  /** Of PHP, the least that it needs, where the source says so. */
  readonly phpVersion?: string
}

/** One place that WordPress can be had from. Every failure is an `Error` whose message an operator understands. */
export interface CoreSource {
  /** For progress and messages: `the release API at https://…`. */
  readonly name: string
  /** Changes whenever the source may have another latest version that time alone does not explain. */
  identity(): Promise<string>
  /** Finds a version, or with `latest` the newest release. @throws Error when it is not to be had here */
  find(version: string, task: SourceTask): Promise<FoundCore>
  /** What there is to choose from, newest release and newest test version at least. */
  versions(task: SourceTask): Promise<SourceOffer[]>
}

/** Sizes that no WordPress release comes near (6.8: 30 MB packed, 75 MB and 3,100 files unpacked). */
export const coreLimits = { maxEntries: 20_000, maxBytes: 400 * 2 ** 20 }
export const maxArchiveBytes = 150 * 2 ** 20
