// Prints the Khronos validator's report on one file as JSON. Usage: node validate_glb.cjs VALIDATOR_DIRECTORY FILE
const fs = require("fs");
const path = require("path");
const [directory, file] = process.argv.slice(2);
const validator = require(path.resolve(directory, "node_modules", "gltf-validator"));
validator
  .validateBytes(new Uint8Array(fs.readFileSync(file)), { maxIssues: 100 })
  .then((report) => console.log(JSON.stringify(report)))
  .catch((error) => {
    console.error(String(error));
    process.exit(1);
  });
