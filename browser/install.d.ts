/**
 * Installs the packages of a folder, unless they are there in the versions of its lock file.
 * @param why printed before it begins
 * @throws Error if npm fails
 */
export function installPackages(folder: string, why: string): void
