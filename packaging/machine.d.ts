/**
 * Finds programs and libraries that a machine cannot run.
 * @param arch of that machine
 * @returns how many files have code for a machine, and which have it for another
 */
export function foreignPrograms(folder: string, arch: 'amd64' | 'arm64'): { count: number; foreign: string[] }
