/** What other folders may import from this resource. */
export { problems } from './problems.ts'
export { knownReleases, type Release } from './release.store.ts'
export { releasesNow, requirePhp, updateTarget } from './releases.ts'
export { rememberThatItFailed } from './remember-failure.ts'
export {
  type BeforeRelease,
  copyDatabaseOfSite,
  fetchRelease,
  lookBeforeRelease,
  prepareRootFiles,
  type ReleaseContext,
  ReleaseTarget,
  recordRelease,
  requirePageOfRelease,
  runOnRelease,
  upgradeDatabase,
  upgradeOtherBlogs,
  type Warned,
} from './replace-release.ts'
