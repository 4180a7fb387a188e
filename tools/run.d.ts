/**
 * Installs the programs unless they are there in the versions of the lock file.
 * @returns their folder
 * @throws Error if npm fails
 */
export function installTools(): string
