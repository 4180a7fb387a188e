import { type CoreProgress, createCoreLibrary } from './core-library.ts'

// Run by the tests as a process of its own: prints each phase to stderr, and the core that it got.
const [dataDir = '', wordpressApi = '', version = ''] = process.argv.slice(2)
const log = { info: () => {}, warn: () => {} }
const library = createCoreLibrary({ dataDir, coreSource: undefined, wordpressApi, allowPrivate: true, log })
const onProgress = ({ phase }: CoreProgress) => console.error(phase)
console.log(JSON.stringify(await library.ensure(version, { onProgress })))
