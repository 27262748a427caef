/** The URL of the service under test, and a token. The test puts their values in. */
declare const API: string;
declare const TOKEN: string;
