/** Returns the release of a site's WordPress. The API describes it, with the release in brackets. */
export const wordpressRelease = (cmsVersion: string): string => /\(([\d.]+)\)/.exec(cmsVersion)?.[1] ?? cmsVersion
