/**
 * Tells tap for which tests it measures coverage. The tests of these folders run the built service in child processes, whose
 * bundles V8 cannot map to the sources cheaply; measuring would only slow them down.
 */
export default (test: string): [] | null => /^test\/(?:faults|process)\//.test(test) ? null : []
