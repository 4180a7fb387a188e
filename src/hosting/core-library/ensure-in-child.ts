import { type CoreProgress, createCoreLibrary } from './core-library.ts'

// The tests run this as a separate process. It prints each phase to stderr, and then the core.
const [dataDir = '', wordpressApi = '', version = ''] = process.argv.slice(2)
const log = { info: () => {}, warn: () => {} }
const library = createCoreLibrary({ dataDir, coreSource: undefined, wordpressApi, allowPrivate: true, log })
const onProgress = ({ phase }: CoreProgress) => console.error(phase)
console.log(JSON.stringify(await library.ensure(version, { onProgress })))
